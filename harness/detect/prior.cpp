#include "harness/detect/prior.hpp"

#include <algorithm>
#include <cmath>

#include "harness/detect/normal.hpp"

namespace fleetbench::detect {
namespace {

// Degrees of freedom that an assumed spread is worth. Four: among four nodes the long tail of t
// forgives a prior of a third of the true spread.
constexpr double kAssumedDegrees = 4;
// So many per metric at most: that a few metrics look equally noisy can be chance.
constexpr double kMostDegreesPerMetric = 3;

// Standard deviation between healthy nodes of one kind that is expected before looking. Published
// cohorts lie between 0.05 and 2.2 % for arithmetic; what goes through a kernel's network or
// storage stack spreads more. A link has the peculiarities of its path on top.
double assumed_between(Layer layer, Role role) {
  switch (layer) {
    case Layer::host:
    case Layer::compute:
      return 0.01;
    case Layer::storage:
      return 0.03;
    default:
      return role == Role::link ? 0.03 : 0.02;
  }
}

}  // namespace

Prior learnt_prior(const std::vector<SampleVariance>& seen) {
  std::vector<double> logs;  // unbiased for the logarithm of the true variance
  double chance = 0;         // how much they would vary were all variances the same
  for (const SampleVariance& one : seen) {
    if (one.variance > 0 && one.degrees > 0) {
      logs.push_back(std::log(one.variance) - digamma(one.degrees / 2) +
                     std::log(one.degrees / 2));
      chance += trigamma(one.degrees / 2);
    }
  }
  if (logs.size() < 3) {
    return {};
  }
  const double n = static_cast<double>(logs.size());
  double mean = 0;
  for (const double value : logs) {
    mean += value / n;
  }
  double variance = 0;
  for (const double value : logs) {
    variance += (value - mean) * (value - mean) / (n - 1);
  }
  const double beyond = variance - chance / n;
  const double most = kMostDegreesPerMetric * n;
  if (beyond <= trigamma(most / 2)) {
    return {std::exp(mean), most};
  }
  const double half = inverse_trigamma(beyond);
  return {std::exp(mean + digamma(half) - std::log(half)), 2 * half};
}

Prior assumed_prior(const Table& table, double pass_variance) {
  const double between = assumed_between(table.info.layer, table.role);
  return {between * between + pass_variance, kAssumedDegrees};
}

}  // namespace fleetbench::detect
