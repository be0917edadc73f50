#include "harness/detect/two_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "harness/detect/scale.hpp"
#include "harness/detect/student.hpp"

namespace fleetbench::detect {
namespace {

bool comparable(const Table& table) {
  return table.rows.size() == 2 && table.info.subject != SubjectKind::group &&
         level(table.rows[0].x) && level(table.rows[1].x);
}

// Median over the passes of the second row minus the first; without a common pass, of the levels.
double difference(const Table& table) {
  const Passes& first = table.rows[0].x;
  const Passes& second = table.rows[1].x;
  std::vector<double> paired;
  for (std::size_t pass = 0; pass < first.size(); ++pass) {
    if (first[pass] && second[pass]) {
      paired.push_back(*second[pass] - *first[pass]);
    }
  }
  return paired.empty() ? *level(second) - *level(first) : median(std::move(paired));
}

double pass_variance(const Table& table) {
  const std::vector<Passes> passes{table.rows[0].x, table.rows[1].x};
  const double sigma = pass_sigma(passes).value_or(kSinglePassSigma);
  const std::size_t fewest = std::min(count(passes[0]), count(passes[1]));
  return sigma * sigma * median_variance(fewest);
}

std::optional<std::string> compare(const Table& table, double p_bound, double effect_bound) {
  const double second_slower = difference(table);
  const double slowdown = std::abs(second_slower);
  const Row& slow = table.rows[second_slower > 0 ? 1 : 0];
  const Row& fast = table.rows[second_slower > 0 ? 0 : 1];
  const Peers nobody = peers_of(table, {});
  const double variance = pass_variance(table);
  const double scale = std::numbers::sqrt2 * shrunk_sigma(table, nobody, variance);
  const double p = 2 * student_tail(slowdown / scale, nobody.degrees);
  if (p > p_bound || slowdown < effect_bound) {
    return std::nullopt;
  }
  const double half = nobody.quantile * std::sqrt(2 * variance);
  return fmt::format(
      "{} is {} in {} {}; which of the two is at fault only a baseline can tell",
      describe(slow.subject), describe_slowdown(to_pct(slowdown), describe(fast.subject)),
      table.metric,
      describe_interval(to_pct(slowdown), to_pct(slowdown - half), to_pct(slowdown + half)));
}

}  // namespace

std::vector<std::string> compare_two(const std::vector<Table>& tables,
                                     const DetectOptions& options) {
  const auto compared = std::count_if(tables.begin(), tables.end(), comparable);
  std::vector<std::string> notes;
  for (const Table& table : tables) {
    if (!comparable(table)) {
      continue;
    }
    auto note = compare(table, options.family_error / static_cast<double>(compared),
                        std::log1p(min_effect(options, table.info.layer)));
    if (note) {
      notes.push_back(std::move(*note));
    }
  }
  return notes;
}

}  // namespace fleetbench::detect
