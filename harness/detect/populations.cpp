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
  // The largest gap of all, not only of those with enough on both sides.
  std::size_t after = 1;
  for (std::size_t k = 1; k < n; ++k) {
    if (values[k] - values[k - 1] > values[after] - values[after - 1]) {
      after = k;
    }
  }
  const double gap = values[after] - values[after - 1];
  if (after < least || n - after < least) {
    return std::nullopt;
  }
  const std::span<const double> all(values);
  const double variance =
      (squares_about_mean(all.first(after)) + squares_about_mean(all.subspan(after))) /
      static_cast<double>(n - 2);
  if (gap <= kGapSigmas * std::sqrt(variance)) {
    return std::nullopt;
  }
  return Split{0.5 * (values[after] + values[after - 1]), n - after, after};
}

}  // namespace fleetbench::detect
