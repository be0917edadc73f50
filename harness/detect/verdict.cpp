#include "harness/detect/verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/detect/confirm.hpp"
#include "harness/detect/reading_lines.hpp"

namespace fleetbench::detect {
namespace {

std::string sentence(const Finding& finding) {
  const std::string who = describe(finding.subject);
  const auto layer = to_string(finding.layer);
  switch (finding.direction) {
    case Direction::wrong:
      if (!finding.evidence.empty() && finding.evidence.front().source == kTelemetry) {
        return fmt::format("{}: {}", who, finding.evidence.front().text);
      }
      return fmt::format("{} computes or delivers wrong results ({})", who, layer);
    case Direction::missing:
      return fmt::format("{}: {}", who,
                         finding.evidence.empty() ? "missing" : finding.evidence.front().text);
    default:
      return fmt::format(
          "{} is {} in {} ({}){}{}", who, describe_slowdown(finding.slowdown_pct, "its peers"),
          layer, to_string(finding.status), finding.cause.empty() ? "" : ": ", finding.cause);
  }
}

bool fails(const Finding& finding, const DetectOptions& options) {
  if (finding.direction == Direction::wrong) {
    return finding.status != FindingStatus::tentative;  // a port that only counts errors
  }
  if (finding.direction == Direction::missing) {
    return true;
  }
  return finding.direction == Direction::slow && finding.status == FindingStatus::confirmed &&
         finding.ci_low_pct >= 50 * min_effect(options, finding.layer);
}

void add_configuration(const Report& report, std::vector<std::string>& warnings) {
  if (report.configuration.size() == 1) {
    warnings.push_back("one node is set up differently: " + report.configuration.front().text);
  } else if (!report.configuration.empty()) {
    warnings.push_back(fmt::format("{} settings of nodes differ from those of most nodes",
                                   report.configuration.size()));
  }
}

std::string pass_reason(const Report& report, const DetectOptions& options) {
  std::vector<std::string> visible;
  for (const Layer layer : all_layers()) {
    const MetricSummary* best = nullptr;
    for (const MetricSummary& metric : report.metrics) {
      if (metric.layer == layer && metric.smallest_visible_pct &&
          (best == nullptr || *metric.smallest_visible_pct < *best->smallest_visible_pct)) {
        best = &metric;
      }
    }
    if (best != nullptr) {
      visible.push_back(fmt::format(
          "{:.1f} % in {}", std::max(*best->smallest_visible_pct, 100 * min_effect(options, layer)),
          to_string(layer)));
    }
  }
  return fmt::format(
      "nothing stands out; a single slow node or link would have been seen from {}{}",
      fmt::join(visible, ", "),
      options.baseline ? "" : "; whether all are slow alike only a baseline can tell");
}

// Layers of which nothing but groups was measured: their metrics name nobody, however slow.
std::vector<std::string> layers_of_groups(const std::vector<MetricSummary>& metrics) {
  std::map<Layer, bool> only_groups;
  for (const MetricSummary& metric : metrics) {
    bool& only = only_groups.try_emplace(metric.layer, true).first->second;
    only = only && metric.subject == SubjectKind::group;
  }
  std::vector<std::string> gaps;
  for (const auto& [layer, only] : only_groups) {
    if (only) {
      gaps.push_back(
          fmt::format("{}: only groups were measured, which do not tell who of them is slow",
                      to_string(layer)));
    }
  }
  return gaps;
}

}  // namespace

std::vector<std::string> gaps_of_run(const RunData& run, bool has_baseline) {
  std::vector<std::string> gaps;
  const std::size_t nodes = run.header.nodes.size();
  if (nodes < 3 && !has_baseline) {
    gaps.push_back(fmt::format("{} {}: without a baseline nobody can be named as slow", nodes,
                               nodes == 1 ? "node" : "nodes"));
  }
  if (!run.end && !run.imported) {
    gaps.push_back("the run broke off: its last record is missing");
  } else if (run.end && run.end->interrupted) {
    gaps.push_back(run.end->reason.empty() ? "the run was interrupted"
                                           : "the run was interrupted: " + run.end->reason);
  }
  if (!run.damage.empty()) {
    gaps.push_back(fmt::format("{} damaged {}, the first: {}", run.damage.size(),
                               run.damage.size() == 1 ? "record" : "records", run.damage.front()));
  }
  return gaps;
}

std::vector<std::string> blind_layers(const std::vector<MetricSummary>& metrics,
                                      const DetectOptions& options) {
  std::map<Layer, double> best;
  for (const MetricSummary& metric : metrics) {
    if (metric.smallest_visible_pct) {
      const auto [place, is_new] = best.try_emplace(metric.layer, *metric.smallest_visible_pct);
      place->second = std::min(place->second, *metric.smallest_visible_pct);
    }
  }
  std::vector<std::string> blind = layers_of_groups(metrics);
  for (const auto& [layer, visible] : best) {
    const double interest = 100 * min_effect(options, layer);
    if (visible > options.blind_times * interest) {
      blind.push_back(fmt::format(
          "{}: a slowdown under {:.0f} % could not have been seen; {:.0f} % would be of interest",
          to_string(layer), visible, interest));
    }
  }
  return blind;
}

bool broke_off(const RunData& run) { return !run.imported && (!run.end || run.end->interrupted); }

void decide(const RunData& run, Report& report, std::vector<std::string> gaps,
            const DetectOptions& options) {
  std::vector<std::string> failures;
  std::vector<std::string> warnings;
  for (const Finding& finding : report.findings) {
    const bool gone = finding.status == FindingStatus::not_reproduced && !counters_rose(finding);
    if (gone) {
      report.notes.push_back(fmt::format(
          "{} was {} in {}, but not when it was measured again: see finding {}",
          describe(finding.subject), describe_slowdown(finding.slowdown_pct, "its peers"),
          to_string(finding.layer), finding.rank));
    } else if (!finding.explained_by && finding.direction != Direction::fast) {
      (fails(finding, options) ? failures : warnings).push_back(sentence(finding));
    }
  }
  add_configuration(report, warnings);
  // What half a run suspects is no warning to act on, what it shows is.
  const bool warns = !warnings.empty() && !broke_off(run);
  const bool lacks = !gaps.empty() || !warnings.empty();
  report.verdict = !failures.empty() ? Verdict::fail
                   : warns           ? Verdict::warn
                   : lacks           ? Verdict::inconclusive
                                     : Verdict::pass;
  report.verdict_reasons.clear();
  for (std::vector<std::string>* reasons : {&failures, &warnings, &gaps}) {
    report.verdict_reasons.insert(report.verdict_reasons.end(), reasons->begin(), reasons->end());
  }
  if (report.verdict == Verdict::pass) {
    report.verdict_reasons.push_back(pass_reason(report, options));
  }
}

}  // namespace fleetbench::detect
