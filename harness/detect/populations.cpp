#include "harness/detect/populations.hpp"

#include <algorithm>
#include <cmath>

namespace fleetbench::detect {
namespace {

constexpr double kGapSigmas = 4;
constexpr double kSmallestShare = 0.1;
constexpr std::size_t kSmallestSide = 3;

double squares_about_mean(std::span<const double> values) {
  double mean = 0;
  for (const double value : values) {
    mean += value / static_cast<double>(values.size());
  }
  double sum = 0;
  for (const double value : values) {
    sum += (value - mean) * (value - mean);
  }
  return sum;
}

// Of sorted values: the place after it.
std::size_t widest_gap(std::span<const double> values) {
  std::size_t after = 1;
  for (std::size_t k = 2; k < values.size(); ++k) {
    if (values[k] - values[k - 1] > values[after] - values[after - 1]) {
      after = k;
    }
  }
  return after;
}

}  // namespace

std::optional<Split> split_of(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  std::ranges::sort(values);
  const std::size_t n = values.size();
  const auto least = std::max(
      kSmallestSide, static_cast<std::size_t>(std::ceil(kSmallestShare * static_cast<double>(n))));
  if (n < 2 * least) {
    return std::nullopt;
  }
  // Outliers are no population, and their distance hides none: they are left out until the largest
  // gap has enough on both sides.
  std::span<const double> all(values);
  std::size_t after = widest_gap(all);
  while (after < least || all.size() - after < least) {
    all = after < least ? all.subspan(after) : all.first(after);
    if (n - all.size() >= least || all.size() < 2 * least) {
      return std::nullopt;
    }
    after = widest_gap(all);
  }
  const double gap = all[after] - all[after - 1];
  const double variance =
      (squares_about_mean(all.first(after)) + squares_about_mean(all.subspan(after))) /
      static_cast<double>(all.size() - 2);
  if (gap <= kGapSigmas * std::sqrt(variance)) {
    return std::nullopt;
  }
  return Split{0.5 * (all[after] + all[after - 1]), all.size() - after, after};
}

}  // namespace fleetbench::detect
