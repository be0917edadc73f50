#include "harness/detect/two_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/detect/prior.hpp"
#include "harness/detect/robust.hpp"
#include "harness/detect/student.hpp"

namespace fleetbench::detect {
namespace {

bool comparable(const Table& table) {
  return table.rows.size() == 2 && !table.of_groups() && count(table.values(0)) > 0 &&
         count(table.values(1)) > 0;
}

// Median over the passes of the second row minus the first; without a common pass, of the levels.
double difference(const Table& table) {
  const auto first = table.values(0);
  const auto second = table.values(1);
  std::vector<double> paired;
  for (std::size_t pass = 0; pass < first.size(); ++pass) {
    if (const double apart = second[pass] - first[pass]; !std::isnan(apart)) {
      paired.push_back(apart);
    }
  }
  return paired.empty() ? level(second) - level(first) : median(std::move(paired));
}

double pass_variance(const Table& table) {
  const double sigma = pass_sigma(table).value_or(kSinglePassSigma);
  const std::size_t fewest = std::min(count(table.values(0)), count(table.values(1)));
  return sigma * sigma * median_variance(fewest);
}

std::optional<std::string> compare(const Table& table, const Names& names, double p_bound,
                                   double effect_bound) {
  const double second_slower = difference(table);
  const double slowdown = std::abs(second_slower);
  const Row& slow = table.rows[second_slower > 0 ? 1 : 0];
  const Row& fast = table.rows[second_slower > 0 ? 0 : 1];
  const double variance = pass_variance(table);
  const Prior prior = assumed_prior(table, variance);
  const double p = 2 * student_tail(slowdown / std::sqrt(2 * prior.variance), prior.degrees);
  if (p > p_bound || slowdown < effect_bound) {
    return std::nullopt;
  }
  const double half = student_quantile(0.05, prior.degrees) * std::sqrt(2 * variance);
  return fmt::format(
      "{} is {} in {} {}; which of the two is at fault only a baseline can tell",
      describe(subject_of(names, table, slow)),
      describe_slowdown(to_pct(slowdown), describe(subject_of(names, table, fast))), table.metric,
      describe_interval(to_pct(slowdown), to_pct(slowdown - half), to_pct(slowdown + half)));
}

}  // namespace

std::vector<std::string> compare_two(const std::vector<Table>& tables, const Names& names,
                                     const DetectOptions& options) {
  const auto compared = std::count_if(tables.begin(), tables.end(), comparable);
  std::vector<std::string> notes;
  for (const Table& table : tables) {
    if (!comparable(table)) {
      continue;
    }
    auto note = compare(table, names, options.family_error / static_cast<double>(compared),
                        std::log1p(min_effect(options, table.info.layer)));
    if (note) {
      notes.push_back(std::move(*note));
    }
  }
  return notes;
}

}  // namespace fleetbench::detect
