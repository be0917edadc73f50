#include "harness/detect/clean_set.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/detect/normal.hpp"
#include "harness/detect/student.hpp"

namespace fleetbench::detect {
namespace {

// Of few, a bare half: two of four may be slow.
constexpr double kStart = 0.75;
constexpr std::size_t kFew = 8;

std::size_t start_size(std::size_t n) {
  return n < kFew ? std::min(n, std::max<std::size_t>(2, (n + 1) / 2))
                  : static_cast<std::size_t>(kStart * static_cast<double>(n));
}

// On each side: the largest of a healthy fleet's values is beyond this in one of ten.
constexpr double kGrowError = 0.1;

}  // namespace

CleanSet::CleanSet(std::span<const double> values, const CleanRules& rules, const Prior& prior)
    : rules_(rules), prior_(prior), rank_(values.size()) {
  const std::size_t n = values.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto i, auto j) { return values[i] < values[j]; });
  origin_ =
      rules.fixed_centre || n == 0 ? 0 : 0.5 * (values[order[n / 2]] + values[order[(n - 1) / 2]]);
  sums_.assign(n + 1, 0);
  squares_.assign(n + 1, 0);
  for (std::size_t k = 0; k < n; ++k) {
    rank_[order[k]] = k;
    const double distance = values[order[k]] - origin_;
    sorted_.push_back(distance);
    sums_[k + 1] = sums_[k] + distance;
    squares_[k + 1] = squares_[k] + distance * distance;
  }
  grow();
}

Spread CleanSet::spread(std::size_t size, double sum, double squares, double inflation) const {
  Spread spread;
  spread.centre_variance = 1;
  double variance = 0;
  double worth = 0;
  if (!rules_.fixed_centre && size > 0) {
    const double n = static_cast<double>(size);
    const double mean = sum / n;
    spread.centre = origin_ + mean;
    spread.centre_variance = 1 / n;
    // Parameters of a fit are spent on all values alike, also on those that are not members.
    const double spent =
        rules_.fitted * n / static_cast<double>(std::max<std::size_t>(1, sorted_.size()));
    worth = std::max(0.0, n - 1 - spent);
    variance = worth > 0 ? std::max(0.0, squares - n * mean * mean) / worth * inflation : 0;
  }
  if (rules_.fixed_centre) {
    spread.centre_variance = 0;
  }
  spread.degrees = worth + prior_.degrees;
  if (spread.degrees > 0) {
    spread.variance = (worth * variance + prior_.degrees * prior_.variance) / spread.degrees;
  }
  spread.degrees = std::max(spread.degrees, 1.0);
  spread.variance = std::max(spread.variance, rules_.least_variance);
  return spread;
}

Spread CleanSet::without(std::size_t i) const {
  if (!contains(i)) {
    return all();
  }
  const double value = sorted_[rank_[i]];
  return spread(size() - 1, sum() - value, squares() - value * value, 1);
}

// Takes in what is within reach on both sides; false where nothing is.
bool CleanSet::extend(const Spread& spread) {
  const double n = static_cast<double>(sorted_.size());
  const double critical = student_quantile(std::min(0.25, kGrowError / n), spread.degrees);
  const double reach = critical * std::sqrt(spread.variance * (1 + spread.centre_variance));
  const double centre = spread.centre - origin_;
  const std::size_t before = size();
  while (low_ > 0 && sorted_[low_ - 1] >= centre - reach) {
    --low_;
  }
  while (high_ < sorted_.size() && sorted_[high_] <= centre + reach) {
    ++high_;
  }
  return size() > before;
}

void CleanSet::grow() {
  const std::size_t n = sorted_.size();
  const std::size_t least = start_size(n);
  for (std::size_t first = 0; first + least <= n && least > 0; ++first) {
    const auto range = [&](std::size_t k) { return sorted_[k + least - 1] - sorted_[k]; };
    low_ = first == 0 || range(first) < range(low_) ? first : low_;
  }
  high_ = low_ + least;
  while (size() < n) {
    const double share = static_cast<double>(size()) / static_cast<double>(n);
    const double inflation = 1 / central_variance(share);
    if (!extend(spread(size(), sum(), squares(), inflation))) {
      return;
    }
  }
}

}  // namespace fleetbench::detect
