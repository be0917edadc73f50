#include "harness/detect/slow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace fleetbench::detect {
namespace {

constexpr std::size_t kFewestForSuspect = 5;  // nodes
constexpr double kFastTimes = 4;              // the minimum effect

struct Hit {
  const Table* table = nullptr;
  const Row* row = nullptr;
  const Judgement* judgement = nullptr;
  std::size_t nodes = 0;  // in the table
};

// Layer and subject; both directions of a link are one subject.
using Key = std::tuple<Layer, int, int>;

Key key_of(const Hit& hit) {
  const Row& row = *hit.row;
  return {hit.table->info.layer, row.peer < 0 ? row.node : std::min(row.node, row.peer),
          row.peer < 0 ? -1 : std::max(row.node, row.peer)};
}

std::size_t count_nodes(const Table& table) {
  std::set<int> nodes;
  for (const Row& row : table.rows) {
    nodes.insert(row.node);
    if (row.peer >= 0) {
      nodes.insert(row.peer);
    }
  }
  return nodes.size();
}

bool slow_enough(const Judgement& judgement, double bound, double family_error) {
  return judgement.judged && judgement.slowdown >= bound && judgement.against_all >= bound &&
         judgement.adjusted_slow <= family_error;
}

bool fast_enough(const Judgement& judgement, double bound, double family_error) {
  return judgement.judged && -judgement.slowdown >= bound &&
         judgement.adjusted_fast <= family_error;
}

template <typename Chosen>
std::map<Key, std::vector<Hit>> collect(const std::vector<Judged>& tables, Chosen chosen) {
  std::map<Key, std::vector<Hit>> hits;
  for (const Judged& judged : tables) {
    if (judged.table.info.subject == SubjectKind::group) {
      continue;
    }
    const std::size_t nodes = count_nodes(judged.table);
    for (std::size_t i = 0; i < judged.rows.size(); ++i) {
      if (chosen(judged.table, judged.rows[i])) {
        const Hit hit{&judged.table, &judged.table.rows[i], &judged.rows[i], nodes};
        hits[key_of(hit)].push_back(hit);
      }
    }
  }
  return hits;
}

Subject merged_subject(const std::vector<Hit>& hits) {
  Subject subject = hits.front().row->subject;
  const bool same = std::all_of(hits.begin(), hits.end(),
                                [&subject](const Hit& hit) { return hit.row->subject == subject; });
  if (!same && subject.kind == "link") {
    if (hits.front().row->node > hits.front().row->peer) {
      std::swap(subject.a, subject.b);
    }
    subject.directed = false;
  }
  return subject;
}

MetricEvidence metric_of(const Hit& hit) {
  const Better better = hit.table->info.better;
  return {hit.table->metric, hit.table->info.unit, to_value(hit.judgement->level, better),
          to_value(hit.judgement->peers, better), to_pct(hit.judgement->slowdown)};
}

std::string compared(const Hit& hit, double pct) {
  const std::string name = describe(hit.row->subject);
  switch (hit.table->role) {
    case Role::sends:
      return fmt::format("what {} sends is {}", name,
                         describe_slowdown(pct, "what its peers send"));
    case Role::receives:
      return fmt::format("what {} receives is {}", name,
                         describe_slowdown(pct, "what its peers receive"));
    case Role::talks:
      return fmt::format("{} with {} is {}", hit.table->metric, name,
                         describe_slowdown(pct, "between its peers"));
    case Role::link:
      return fmt::format(
          "{} {} is {}", hit.table->metric, name,
          describe_slowdown(pct, hit.table->fixed_reference ? "on the best pair"
                                                            : "its two ends lead one to expect"));
    case Role::own:
      break;
  }
  return fmt::format("{} is {} than the median of its peers", hit.table->metric,
                     pct > 0 ? "slower" : "faster");
}

Evidence evidence_of(const Hit& hit) {
  std::string text = compared(hit, to_pct(hit.judgement->slowdown));
  if (hit.judgement->slowdown > 0) {
    text += fmt::format("{} in {} of {} passes", hit.table->role == Role::own ? "" : ",",
                        hit.judgement->slow_passes, hit.judgement->passes);
  }
  return {std::move(text), hit.table->step_id};
}

Finding common_finding(std::vector<Hit> hits) {
  std::stable_sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) {
    return std::abs(a.judgement->slowdown) > std::abs(b.judgement->slowdown);
  });
  Finding finding;
  finding.subject = merged_subject(hits);
  finding.layer = hits.front().table->info.layer;
  finding.next_check = hits.front().table->info.next_check;
  finding.status = FindingStatus::tentative;
  for (const Hit& hit : hits) {
    finding.metrics.push_back(metric_of(hit));
    finding.evidence.push_back(evidence_of(hit));
    if (hit.nodes >= kFewestForSuspect && hit.judgement->passes > 1) {
      finding.status = FindingStatus::suspect;
    }
  }
  return finding;
}

void set_effect(Finding& finding, const Judgement& judgement) {
  finding.slowdown_pct = to_pct(judgement.slowdown);
  finding.ci_low_pct = to_pct(judgement.low);
  finding.ci_high_pct = to_pct(judgement.high);
}

Finding slow_finding(const std::vector<Hit>& hits) {
  Finding finding = common_finding(hits);
  const Hit& surest =
      *std::ranges::max_element(hits, {}, [](const Hit& hit) { return hit.judgement->low; });
  set_effect(finding, *surest.judgement);
  for (const Hit& hit : hits) {
    finding.p_value = std::min(finding.p_value, hit.judgement->adjusted_slow);
  }
  return finding;
}

Finding fast_finding(const std::vector<Hit>& hits) {
  Finding finding = common_finding(hits);
  const Hit& surest =
      *std::ranges::min_element(hits, {}, [](const Hit& hit) { return hit.judgement->high; });
  set_effect(finding, *surest.judgement);
  for (const Hit& hit : hits) {
    finding.p_value = std::min(finding.p_value, hit.judgement->adjusted_fast);
  }
  finding.direction = Direction::fast;
  finding.status = FindingStatus::tentative;
  finding.next_check =
      "A figure that is too good can be a wrong clock, data read from a cache, or work cut short; "
      "or the other nodes are the slow ones.";
  return finding;
}

double bound_of(const Table& table, const DetectOptions& options, double times) {
  return std::log1p(times * min_effect(options, table.info.layer));
}

}  // namespace

std::vector<Finding> slow_findings(const std::vector<Judged>& tables,
                                   const DetectOptions& options) {
  const auto hits = collect(tables, [&](const Table& table, const Judgement& judgement) {
    return slow_enough(judgement, bound_of(table, options, 1), options.family_error) &&
           (judgement.lasting || judgement.passes == 1);
  });
  std::vector<Finding> findings;
  for (const auto& [key, of_subject] : hits) {
    findings.push_back(slow_finding(of_subject));
  }
  return findings;
}

std::vector<Finding> fast_findings(const std::vector<Judged>& tables,
                                   const DetectOptions& options) {
  const auto hits = collect(tables, [&](const Table& table, const Judgement& judgement) {
    return table.role == Role::own &&
           fast_enough(judgement, bound_of(table, options, kFastTimes), options.family_error);
  });
  std::vector<Finding> findings;
  for (const auto& [key, of_subject] : hits) {
    findings.push_back(fast_finding(of_subject));
  }
  return findings;
}

std::vector<std::string> disturbance_notes(const std::vector<Judged>& tables,
                                           const DetectOptions& options) {
  const auto hits = collect(tables, [&](const Table& table, const Judgement& judgement) {
    return slow_enough(judgement, bound_of(table, options, 1), options.family_error) &&
           !judgement.lasting && judgement.passes > 1;
  });
  std::vector<std::string> notes;
  for (const auto& [key, of_subject] : hits) {
    for (const Hit& hit : of_subject) {
      notes.push_back(
          fmt::format("{}: {} was {}, but only in {} of {} passes: taken for a disturbance",
                      describe(hit.row->subject), hit.table->metric,
                      describe_slowdown(to_pct(hit.judgement->slowdown), "its peers"),
                      hit.judgement->slow_passes, hit.judgement->passes));
    }
  }
  return notes;
}

}  // namespace fleetbench::detect
