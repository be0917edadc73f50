#include "harness/detect/closer.hpp"

#include <algorithm>
#include <cmath>

#include "harness/detect/robust.hpp"
#include "harness/detect/student.hpp"

namespace fleetbench::detect {
namespace {

constexpr double kQuantile = 0.05;  // on each side of an interval

// Sorted, without the worst quarter, at least one.
double level_without_worst(std::span<const double> values) {
  std::vector<double> kept;
  std::ranges::copy_if(values, std::back_inserter(kept),
                       [](double value) { return !std::isnan(value); });
  std::ranges::sort(kept);
  kept.resize(kept.size() - std::min(kept.size(), std::max<std::size_t>(1, kept.size() / 4)));
  return level(kept);
}

// The slowdown against peers whose worst passes are left out as well.
double slowdown_without_worst(const Judged& judged, std::size_t row) {
  const Table& table = judged.table;
  const double own = level_without_worst(table.values(row)) - table.rows[row].reference;
  std::vector<double> others;
  for (std::size_t other = 0; other < table.rows.size(); ++other) {
    if (other != row && judged.groups[other] == judged.groups[row]) {
      const double value = level_without_worst(table.values(other)) - table.rows[other].reference;
      if (!std::isnan(value)) {
        others.push_back(value);
      }
    }
  }
  if (std::isnan(own) || (others.empty() && !table.fixed_reference)) {
    return 0;
  }
  return table.fixed_reference ? own : own - median(std::move(others));
}

// By time; a median of each half.
bool slow_in_both_halves(std::span<const double> values, double bound) {
  std::vector<double> present;
  std::ranges::copy_if(values, std::back_inserter(present),
                       [](double value) { return !std::isnan(value); });
  const std::span<const double> all(present);
  const std::size_t half = present.size() / 2;
  return half > 0 && level(all.first(half)) >= bound && level(all.subspan(half)) >= bound;
}

}  // namespace

Closer look_closer(const Judged& judged, std::size_t row) {
  const Judgement& judgement = judged.rows[row];
  const auto values = judged.table.values(row);
  const double half_slow = judgement.peers + judgement.slowdown / 2;
  Closer closer;
  closer.passes = count(values);
  closer.slow_passes = static_cast<std::size_t>(
      std::ranges::count_if(values, [&](double value) { return value >= half_slow; }));
  closer.both_halves = slow_in_both_halves(values, half_slow);
  // That passes vary is seen over many of them already.
  closer.lasting =
      !has_passes(judged.table) ||
      (closer.passes > 1 && slowdown_without_worst(judged, row) >= judgement.slowdown / 2);
  const double half = student_quantile(kQuantile, judgement.degrees) * judgement.unsure;
  closer.low = judgement.slowdown - half;
  closer.high = judgement.slowdown + half;
  return closer;
}

}  // namespace fleetbench::detect
