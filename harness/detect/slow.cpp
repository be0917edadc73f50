#include "harness/detect/slow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "harness/detect/attribution.hpp"
#include "harness/detect/derived_tables.hpp"
#include "harness/detect/hits.hpp"
#include "harness/detect/node_or_devices.hpp"
#include "harness/detect/path_check.hpp"
#include "harness/detect/slow_text.hpp"

namespace fleetbench::detect {
namespace {

constexpr std::size_t kFewestForSuspect = 5;  // peers
constexpr double kFastTimes = 4;              // the minimum effect
constexpr std::size_t kMostMetrics = 12;      // told in one finding
constexpr std::size_t kMostSharedTold = 4;    // of what nodes share: counts tell more

double bound_of(const Table& table, const DetectOptions& options, double times) {
  return std::log1p(times * min_effect(options, table.info.layer));
}

Chosen slow_enough(const DetectOptions& options) {
  return [&options](const Table& table, const Judgement& judgement) {
    const double bound = bound_of(table, options, 1);
    return judgement.adjusted_slow <= options.family_error && judgement.slowdown >= bound &&
           (!table.of_links() || judgement.against_all >= bound);
  };
}

Chosen fast_enough(const DetectOptions& options) {
  return [&options](const Table& table, const Judgement& judgement) {
    return table.role == Role::own && table.look == Look::measured && table.part == Part::metric &&
           judgement.adjusted_fast <= options.family_error &&
           -judgement.slowdown >= bound_of(table, options, kFastTimes);
  };
}

bool survives(const Hit& hit) { return hit.closer.lasting || hit.closer.passes == 1; }

FindingStatus status_of(const Hit& hit, bool imported) {
  const bool single = hit.closer.passes < 2 && has_passes(hit.table());
  const bool few = hit.peers < kFewestForSuspect && hit.table().expected.empty();
  if (single || few) {
    return FindingStatus::tentative;
  }
  return imported && hit.closer.both_halves ? FindingStatus::confirmed : FindingStatus::suspect;
}

int certainty(FindingStatus status) {
  return status == FindingStatus::confirmed ? 2 : status == FindingStatus::suspect ? 1 : 0;
}

MetricEvidence metric_of(const Judged& judged, std::size_t row) {
  const Better better = judged.table.info.better;
  const Judgement& judgement = judged.rows[row];
  return {judged.table.metric, judged.table.info.unit, to_value(judgement.level, better),
          to_value(judgement.peers, better), to_pct(judgement.slowdown)};
}

std::optional<std::size_t> row_of(const Table& table, const Row& subject) {
  const auto found = std::ranges::find_if(table.rows, [&](const Row& row) {
    return row.node == subject.node && row.device == subject.device && row.peer == subject.peer &&
           row.component == subject.component;
  });
  return found == table.rows.end()
             ? std::nullopt
             : std::optional(static_cast<std::size_t>(found - table.rows.begin()));
}

// Of a layer's average: those of its metrics that stand out most.
void add_metrics_of_layer(const Evaluated& evaluated, const Hit& hit, Finding& finding) {
  std::vector<std::pair<double, MetricEvidence>> metrics;
  for (const Judged& judged : evaluated.tables) {
    if (!averages(hit.table(), judged.table)) {
      continue;
    }
    const auto row = row_of(judged.table, hit.subject());
    if (row && judged.rows[*row].judged && judged.rows[*row].z > 1) {
      metrics.emplace_back(judged.rows[*row].z, metric_of(judged, *row));
    }
  }
  std::ranges::stable_sort(metrics, std::greater<>(),
                           [](const auto& entry) { return entry.first; });
  for (auto& [z, metric] : metrics) {
    const bool told = std::ranges::any_of(
        finding.metrics,
        [&name = metric.metric](const auto& other) { return other.metric == name; });
    if (!told && finding.metrics.size() < kMostMetrics) {
      finding.metrics.push_back(std::move(metric));
    }
  }
}

void add_next_check(const Evaluated& evaluated, const Hit& hit, Finding& finding) {
  finding.next_check = hit.table().info.next_check;
  for (const Judged& judged : evaluated.tables) {
    if (finding.next_check.empty() || hit.table().part == Part::layer) {
      const bool same = !finding.metrics.empty() && judged.table.part == Part::metric &&
                        judged.table.metric == finding.metrics.front().metric;
      if (same) {
        finding.next_check = judged.table.info.next_check;
        return;
      }
    }
  }
}

// Of a link the direction that is slow, where metrics that have one say the same: then the other
// was measured and is well, and what both directions have in common is slow for that one.
Subject merged_subject(const Names& names, const std::vector<Hit>& hits) {
  Subject subject = subject_of(names, hits.front().table(), hits.front().subject());
  if (subject.kind != "link") {
    return subject;
  }
  std::set<std::pair<std::string, std::string>> directions;
  for (const Hit& hit : hits) {
    const Subject of_hit = subject_of(names, hit.table(), hit.subject());
    if (of_hit.directed) {
      directions.emplace(of_hit.a, of_hit.b);
    }
  }
  subject.directed = directions.size() == 1;
  if (subject.directed) {
    std::tie(subject.a, subject.b) = *directions.begin();
  } else if (hits.front().subject().node > hits.front().subject().peer) {
    std::swap(subject.a, subject.b);
  }
  return subject;
}

Finding common_finding(const Evaluated& evaluated, std::vector<Hit> hits) {
  std::ranges::stable_sort(hits, std::greater<>(),
                           [](const Hit& hit) { return std::abs(hit.judgement().slowdown); });
  const Hit& lead = leading(hits);
  Finding finding;
  finding.subject = merged_subject(evaluated.names, hits);
  finding.layer = lead.table().info.layer;
  finding.status = FindingStatus::tentative;
  finding.slowdown_pct = to_pct(lead.judgement().slowdown);
  finding.ci_low_pct = to_pct(lead.closer.low);
  finding.ci_high_pct = to_pct(lead.closer.high);
  for (const Hit& hit : hits) {
    if (hit.table().part == Part::metric && hit.table().look == Look::measured) {
      finding.metrics.push_back(metric_of(*hit.judged, hit.row));
    }
    if (hit.table().role != Role::shared || finding.evidence.size() < kMostSharedTold) {
      finding.evidence.push_back(evidence_of(evaluated.names, hit));
    }
    const FindingStatus status = status_of(hit, evaluated.run->imported);
    finding.status = certainty(status) > certainty(finding.status) ? status : finding.status;
  }
  for (const Hit& hit : hits) {
    if (hit.table().part == Part::layer) {
      add_metrics_of_layer(evaluated, hit, finding);
    } else if (hit.table().look != Look::measured && finding.metrics.empty()) {
      finding.metrics.push_back(metric_of(*hit.judged, hit.row));
    }
  }
  add_next_check(evaluated, lead, finding);
  return finding;
}

// Slow as measured, but no more than its covariates explain: each of its metrics that has any.
void explain_by_covariates(const Evaluated& evaluated, const std::vector<Hit>& hits,
                           Finding& finding) {
  bool beyond = false;
  std::vector<std::string> covariates;
  std::size_t explained = 0;
  std::size_t measured = 0;
  for (const Hit& hit : hits) {
    beyond = beyond || hit.table().look == Look::beyond;
    if (hit.table().look != Look::measured || hit.table().part != Part::metric) {
      continue;
    }
    ++measured;
    const auto causes = covariates_of(evaluated, hit);
    explained += !causes.empty();
    for (const Explained& cause : causes) {
      finding.evidence.push_back({cause.text, "telemetry"});
      covariates.push_back(cause.covariate);
    }
  }
  if (!beyond && measured > 0 && explained == measured) {
    std::ranges::sort(covariates);
    covariates.erase(std::unique(covariates.begin(), covariates.end()), covariates.end());
    finding.explained_by_covariates = std::move(covariates);
  }
}

// Whether all that is slow is what a slow host slows, while something that it does not was
// measured.
bool is_host_bound(const Evaluated& evaluated, const std::vector<Hit>& hits) {
  const bool bound =
      std::ranges::none_of(hits, [](const Hit& hit) { return hit.table().info.free_of_host; });
  return bound && std::ranges::any_of(evaluated.tables, [&](const Judged& judged) {
           const auto row = row_of(judged.table, hits.front().subject());
           return judged.table.info.free_of_host && judged.table.part == Part::metric &&
                  judged.table.info.layer == hits.front().table().info.layer && row &&
                  judged.rows[*row].judged;
         });
}

Finding slow_finding(const Evaluated& evaluated, const std::vector<Hit>& hits) {
  Finding finding = common_finding(evaluated, hits);
  finding.host_bound = is_host_bound(evaluated, hits);
  for (const Hit& hit : hits) {
    finding.p_value = std::min(finding.p_value, hit.judgement().adjusted_slow);
  }
  explain_by_covariates(evaluated, hits, finding);
  return finding;
}

Finding fast_finding(const Evaluated& evaluated, const std::vector<Hit>& hits) {
  Finding finding = common_finding(evaluated, hits);
  for (const Hit& hit : hits) {
    finding.p_value = std::min(finding.p_value, hit.judgement().adjusted_fast);
  }
  finding.direction = Direction::fast;
  finding.status = FindingStatus::tentative;
  finding.next_check =
      "A figure that is too good can be a wrong clock, data read from a cache, or work cut short; "
      "or the other nodes are the slow ones.";
  return finding;
}

// One value of a pair tells nothing of it, one of each of many tells of what they share.
constexpr int kFewestSlowPairs = 5;

void add_what_pairs_tell(const Named& named, Finding& finding) {
  finding.counts = named.counts;
  finding.evidence.insert(finding.evidence.end(), named.evidence.begin(), named.evidence.end());
  const bool shared = finding.subject.kind == "switch" || !finding.subject.rail.empty();
  if (shared) {
    finding.next_check = path_check(finding.subject);
  }
  const bool of_some = finding.subject.kind == "switch" ||
                       (finding.subject.kind == "rail" && finding.subject.node.empty());
  if (of_some && named.counts.slow_touching >= kFewestSlowPairs &&
      finding.status == FindingStatus::tentative) {
    finding.status = FindingStatus::suspect;
  }
}

}  // namespace

std::vector<Finding> slow_findings(const Evaluated& evaluated, const DetectOptions& options) {
  Hits hits = collect_hits(evaluated.tables, slow_enough(options));
  for (auto& [key, of_subject] : hits) {
    std::erase_if(of_subject, [](const Hit& hit) { return !survives(hit); });
  }
  std::erase_if(hits, [](const auto& entry) { return entry.second.empty(); });
  attribute_to_devices(evaluated, hits);
  const std::map<Key, Named> named = attribute(evaluated, options, hits);
  std::vector<Finding> findings;
  for (const auto& [key, of_subject] : hits) {
    findings.push_back(slow_finding(evaluated, of_subject));
    if (const auto found = named.find(key); found != named.end()) {
      add_what_pairs_tell(found->second, findings.back());
    }
  }
  return findings;
}

std::vector<Finding> fast_findings(const Evaluated& evaluated, const DetectOptions& options) {
  std::vector<Finding> findings;
  for (const auto& [key, of_subject] : collect_hits(evaluated.tables, fast_enough(options))) {
    findings.push_back(fast_finding(evaluated, of_subject));
  }
  return findings;
}

std::vector<std::string> disturbance_notes(const Evaluated& evaluated,
                                           const DetectOptions& options) {
  std::vector<std::string> notes;
  for (const auto& [key, of_subject] : collect_hits(evaluated.tables, slow_enough(options))) {
    for (const Hit& hit : of_subject) {
      if (!survives(hit) && hit.table().part == Part::metric &&
          hit.table().look == Look::measured) {
        notes.push_back(fmt::format(
            "{}: {} was {}, but only in {} of {} passes: taken for a disturbance",
            describe(subject_of(evaluated.names, hit.table(), hit.subject())), hit.table().metric,
            describe_slowdown(to_pct(hit.judgement().slowdown), "its peers"),
            hit.closer.slow_passes, hit.closer.passes));
      }
    }
  }
  return notes;
}

}  // namespace fleetbench::detect
