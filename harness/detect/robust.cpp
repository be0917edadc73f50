#include "harness/detect/robust.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

namespace fleetbench::detect {
namespace {

struct Factor {
  double n;
  double factor;
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
constexpr double kMadFactorLimit = 1.4826;

// sigma from the median of |difference of two normal values|: 1.4826 / sqrt(2).
constexpr double kDifferenceFactor = 1.04836;

void add_differences(const Passes& subject, std::vector<double>& differences) {
  for (std::size_t p = 0; p < subject.size(); ++p) {
    for (std::size_t q = p + 1; q < subject.size(); ++q) {
      if (subject[p] && subject[q]) {
        differences.push_back(std::abs(*subject[p] - *subject[q]));
      }
    }
  }
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

double mad_factor(std::size_t n) {
  const double size = static_cast<double>(n);
  const auto above = std::find_if(kMadFactors.begin(), kMadFactors.end(),
                                  [size](const Factor& entry) { return entry.n >= size; });
  if (above == kMadFactors.begin() || (above != kMadFactors.end() && above->n == size)) {
    return above->factor;
  }
  const Factor& low = *(above - 1);
  const double inverse_high = above == kMadFactors.end() ? 0 : 1 / above->n;
  const double factor_high = above == kMadFactors.end() ? kMadFactorLimit : above->factor;
  const double share = (1 / low.n - 1 / size) / (1 / low.n - inverse_high);
  return low.factor + share * (factor_high - low.factor);
}

double robust_sigma(std::span<const double> values) {
  if (values.size() < 2) {
    return 0;
  }
  return mad_factor(values.size()) *
         deviation(values, median(std::vector<double>(values.begin(), values.end())));
}

double median_variance(std::size_t n) {
  return std::numbers::pi / (2 * static_cast<double>(n) + 1);
}

std::optional<double> pass_sigma(std::span<const Passes> subjects) {
  std::vector<double> differences;
  for (const Passes& subject : subjects) {
    add_differences(subject, differences);
  }
  if (differences.empty()) {
    return std::nullopt;
  }
  return kDifferenceFactor * median(std::move(differences));
}

std::optional<double> pass_sigma(const Passes& subject) {
  return pass_sigma(std::span<const Passes>(&subject, 1));
}

std::vector<double> holm(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&p](auto i, auto j) { return p[i] < p[j]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const double raised = p[order[k]] * static_cast<double>(p.size() - k);
    largest = std::max(largest, std::min(1.0, raised));
    adjusted[order[k]] = largest;
  }
  return adjusted;
}

}  // namespace fleetbench::detect
