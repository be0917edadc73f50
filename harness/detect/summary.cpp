#include "harness/detect/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "harness/detect/parallel.hpp"
#include "harness/detect/reduce.hpp"
#include "harness/detect/robust.hpp"
#include "harness/detect/significance.hpp"

namespace fleetbench::detect {
namespace {

// A metric in which not even so many times the minimum effect can be seen is of no use.
constexpr double kUsableTimes = 3;

std::vector<double> levels_of(const Table& table) {
  std::vector<double> levels;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    if (const double x = level(table.values(row)); !std::isnan(x)) {
      levels.push_back(x);
    }
  }
  return levels;
}

MetricSummary summary_of(const Judged& judged, const std::vector<double>& levels) {
  const Table& table = judged.table;
  const auto [lowest, highest] = std::ranges::minmax(levels);
  MetricSummary summary;
  summary.metric = table.metric;
  summary.unit = table.info.unit;
  summary.layer = table.info.layer;
  summary.subject = !is_derived_from_pairs(table) ? table.info.subject
                    : table.of_devices()          ? SubjectKind::device
                                                  : SubjectKind::node;
  summary.subjects = static_cast<int>(levels.size());
  summary.median = to_value(median(levels), table.info.better);
  summary.lowest = to_value(lowest, table.info.better);
  summary.highest = to_value(highest, table.info.better);
  if (summary.lowest > summary.highest) {
    std::swap(summary.lowest, summary.highest);
  }
  summary.spread_pct = to_pct(judged.between);
  summary.within_pct = to_pct(judged.within);
  return summary;
}

// The median over passes of each node, or device of a node, that gave values.
std::vector<double> subject_medians(const RunData& run, const StepRecord& step,
                                    std::size_t metric) {
  std::map<std::pair<int, std::string_view>, std::vector<double>> by_subject;
  for (const SampleRecord& sample : run.samples) {
    if (sample.step == step.step && !sample.confirms && metric < sample.values.size() &&
        sample.values[metric]) {
      by_subject[{sample.node, sample.device}].push_back(*sample.values[metric]);
    }
  }
  std::vector<double> medians;
  for (const auto& [subject, values] : by_subject) {
    medians.push_back(median(values));
  }
  return medians;
}

}  // namespace

std::vector<MetricSummary> summarise_unjudged(const RunData& run) {
  std::vector<MetricSummary> summaries;
  for (const StepRecord& step : run.steps) {
    for (std::size_t m = 0; m < step.metrics.size(); ++m) {
      const MetricInfo& metric = step.metrics[m];
      const auto medians = metric.judged ? std::vector<double>{} : subject_medians(run, step, m);
      if (medians.empty()) {
        continue;
      }
      MetricSummary summary;
      summary.metric = full_name(step, metric);
      summary.unit = metric.unit;
      summary.layer = metric.layer;
      summary.subject = metric.subject;
      summary.judged = false;
      summary.subjects = static_cast<int>(medians.size());
      summary.median = median(medians);
      summary.lowest = *std::ranges::min_element(medians);
      summary.highest = *std::ranges::max_element(medians);
      summaries.push_back(std::move(summary));
    }
  }
  return summaries;
}

std::vector<MetricSummary> summarise(const std::vector<Judged>& tables,
                                     const DetectOptions& options) {
  std::vector<std::optional<MetricSummary>> all(tables.size());
  for_each_index(tables.size(), [&](std::size_t i) {
    const Judged& judged = tables[i];
    const std::vector<double> levels = levels_of(judged.table);
    if (levels.empty() || judged.table.look != Look::measured ||
        judged.table.part != Part::metric || judged.table.of_its_devices ||
        judged.table.role == Role::shared) {
      return;
    }
    MetricSummary summary = summary_of(judged, levels);
    const double interest = min_effect(options, judged.table.info.layer);
    if (const auto visible = smallest_visible(judged, options.family_error, interest)) {
      summary.smallest_visible_pct = to_pct(*visible);
      summary.usable = *visible <= std::log1p(kUsableTimes * interest);
    }
    all[i] = std::move(summary);
  });
  std::vector<MetricSummary> summaries;
  for (auto& summary : all) {
    if (summary) {
      summaries.push_back(std::move(*summary));
    }
  }
  return summaries;
}

std::vector<NotMeasured> without_peers(const std::vector<Judged>& tables, const Names& names) {
  std::map<std::string, std::set<std::string>> metrics_by_node;
  for (const Judged& judged : tables) {
    const Table& table = judged.table;
    const bool compared = std::ranges::any_of(judged.rows, &Judgement::judged);
    if (!compared || table.role != Role::own || table.look != Look::measured ||
        table.part != Part::metric || table.of_its_devices) {
      continue;
    }
    for (std::size_t row = 0; row < judged.rows.size(); ++row) {
      if (!judged.rows[row].judged && judged.groups[row] >= 0) {
        metrics_by_node[names.nodes[table.rows[row].node]].insert(table.metric);
      }
    }
  }
  std::vector<NotMeasured> result;
  for (const auto& [node, metrics] : metrics_by_node) {
    result.push_back(
        {fmt::format("{} compared with others", node),
         fmt::format("fewer than three of its kind gave values of {}{}", *metrics.begin(),
                     metrics.size() > 1 ? fmt::format(" and {} more", metrics.size() - 1) : "")});
  }
  return result;
}

std::vector<NotMeasured> too_few_to_compare(const std::vector<Judged>& tables, std::size_t nodes) {
  std::vector<NotMeasured> result;
  for (const Judged& judged : tables) {
    const std::size_t subjects = levels_of(judged.table).size();
    const bool ranks = judged.table.info.subject != SubjectKind::group &&
                       judged.table.role != Role::shared && judged.table.look == Look::measured &&
                       judged.table.part == Part::metric;
    if (ranks && subjects > 0 && subjects < 3 && nodes >= 3) {
      result.push_back(
          {judged.table.metric,
           fmt::format("only {} of the fleet gave values: nobody can be named", subjects)});
    }
  }
  return result;
}

}  // namespace fleetbench::detect
