#include "harness/detect/robust.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace fleetbench::detect {
namespace {

struct Factor {
  double n;
  double factor;
};

// Rising n; the limit is that for n without bound.
struct Factors {
  std::span<const Factor> table;
  double limit;
};

constexpr std::array<Factor, 15> kMadFactors{{{2, 1.773},
                                              {3, 2.205},
                                              {4, 2.016},
                                              {5, 1.804},
                                              {6, 1.765},
                                              {7, 1.687},
                                              {8, 1.671},
                                              {9, 1.633},
                                              {10, 1.624},
                                              {12, 1.596},
                                              {16, 1.563},
                                              {20, 1.546},
                                              {32, 1.521},
                                              {64, 1.501},
                                              {100, 1.494}}};
constexpr Factors kMad{kMadFactors, 1.4826};

constexpr std::array<Factor, 11> kEvenQnFactors{{{2, 0.887},
                                                 {4, 1.138},
                                                 {6, 1.359},
                                                 {8, 1.487},
                                                 {10, 1.598},
                                                 {12, 1.681},
                                                 {16, 1.793},
                                                 {20, 1.867},
                                                 {32, 1.987},
                                                 {64, 2.098},
                                                 {100, 2.140}}};
constexpr std::array<Factor, 10> kOddQnFactors{{{3, 2.205},
                                                {5, 1.873},
                                                {7, 1.905},
                                                {9, 1.939},
                                                {11, 1.972},
                                                {15, 2.025},
                                                {21, 2.073},
                                                {33, 2.122},
                                                {65, 2.167},
                                                {99, 2.184}}};
constexpr double kQnFactorLimit = 2.2191;
constexpr Factors kEvenQn{kEvenQnFactors, kQnFactorLimit};
constexpr Factors kOddQn{kOddQnFactors, kQnFactorLimit};

double interpolated(const Factors& factors, std::size_t n) {
  const double size = static_cast<double>(n);
  const auto end = factors.table.end();
  const auto above = std::find_if(factors.table.begin(), end,
                                  [size](const Factor& entry) { return entry.n >= size; });
  if (above == factors.table.begin() || (above != end && above->n == size)) {
    return above->factor;
  }
  const Factor& low = *(above - 1);
  const double inverse_high = above == end ? 0 : 1 / above->n;
  const double factor_high = above == end ? factors.limit : above->factor;
  const double share = (1 / low.n - 1 / size) / (1 / low.n - inverse_high);
  return low.factor + share * (factor_high - low.factor);
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) {
    return *middle;
  }
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

double deviation(std::span<const double> values, double centre) {
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) {
    deviations.push_back(std::abs(value - centre));
  }
  return median(std::move(deviations));
}

double mad_factor(std::size_t n) { return interpolated(kMad, n); }

double pairwise_gap(std::span<const double> values) {
  if (values.size() < 2) {
    return 0;
  }
  std::vector<double> gaps;
  gaps.reserve(values.size() * (values.size() - 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i + 1; j < values.size(); ++j) {
      gaps.push_back(std::abs(values[i] - values[j]));
    }
  }
  const std::size_t half = values.size() / 2 + 1;
  const auto kth = gaps.begin() + static_cast<std::ptrdiff_t>(half * (half - 1) / 2 - 1);
  std::nth_element(gaps.begin(), kth, gaps.end());
  return *kth;
}

double qn_factor(std::size_t n) { return interpolated(n % 2 == 0 ? kEvenQn : kOddQn, n); }

double robust_sigma(std::span<const double> values) {
  const std::size_t n = values.size();
  if (n < 2) {
    return 0;
  }
  if (n <= kMostForQn) {
    return qn_factor(n) * pairwise_gap(values);
  }
  return mad_factor(n) *
         deviation(values, median(std::vector<double>(values.begin(), values.end())));
}

double median_variance(std::size_t n) {
  return std::numbers::pi / (2 * static_cast<double>(n) + 1);
}

}  // namespace fleetbench::detect
