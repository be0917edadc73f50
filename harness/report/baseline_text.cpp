#include "harness/report/baseline_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "harness/report/escape.hpp"
#include "harness/report/text_layout.hpp"
#include "harness/report/units.hpp"

namespace fleetbench {
namespace {

using report::escaped;

std::string counted(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string spread(double sigma) { return sigma > 0 ? report::in_per_cent(100 * sigma) : "-"; }

// The method only where it takes one to tell two metrics apart.
std::string name_of(const BaselineMetric& metric, const Baseline& baseline) {
  const bool alone = std::ranges::none_of(baseline.metrics, [&](const BaselineMetric& other) {
    return other.key.metric == metric.key.metric && other.key.method != metric.key.method;
  });
  return escaped(alone ? metric.key.metric
                       : fmt::format("{} ({})", metric.key.metric, metric.key.method));
}

std::string table_of(const Baseline& baseline, const std::string& cohort) {
  std::vector<std::vector<std::string>> rows{
      {"metric", "median", "between subjects", "pass to pass", "run to run", "subjects", "runs"}};
  for (const BaselineMetric& metric : baseline.metrics) {
    if (metric.cohort == cohort) {
      rows.push_back({name_of(metric, baseline), report::in_unit(metric.median, metric.unit),
                      spread(metric.between), spread(metric.within), spread(metric.run_to_run),
                      std::to_string(metric.subjects), std::to_string(metric.runs)});
    }
  }
  return report::table(rows, "  ", true);
}

}  // namespace

std::string baseline_headline(const Baseline& baseline) {
  std::set<std::string> nodes;
  for (const BaselineSubject& subject : baseline.subjects) {
    nodes.insert(subject.node);
  }
  std::set<BaselineKey> metrics;
  for (const BaselineMetric& metric : baseline.metrics) {
    metrics.insert(metric.key);
  }
  return fmt::format(
      "{}, {}, {}, {} of nodes and devices", counted(baseline.runs.size(), "run", "runs"),
      counted(nodes.size(), "node", "nodes"), counted(metrics.size(), "metric", "metrics"),
      counted(baseline.subjects.size(), "level", "levels"));
}

std::string baseline_text(const Baseline& baseline) {
  std::string text =
      fmt::format("Baseline of {}: {}\n", escaped(baseline.created), baseline_headline(baseline));
  for (const std::string& run : baseline.runs) {
    text += fmt::format("  from run {}\n", escaped(run));
  }
  std::set<std::string> cohorts;
  for (const BaselineMetric& metric : baseline.metrics) {
    cohorts.insert(metric.cohort);
  }
  for (const std::string& cohort : cohorts) {
    text += cohort.empty() ? "\n" : fmt::format("\nCohort {}\n", escaped(cohort));
    text += table_of(baseline, cohort);
  }
  return text;
}

std::string baseline_json(const Baseline& baseline) {
  return report::json_text(to_json(baseline), 1) + "\n";
}

}  // namespace fleetbench
