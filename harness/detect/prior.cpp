#include "harness/detect/prior.hpp"

#include <algorithm>
#include <cmath>

#include "harness/detect/normal.hpp"

namespace fleetbench::detect {
namespace {

// Degrees of freedom that an assumed spread is worth. Four: among four nodes the long tail of t
// forgives a prior of a third of the true spread.
constexpr double kAssumedDegrees = 4;
// That a few metrics look equally noisy can be chance: their variances are taken to differ by so
// many standard errors more than they seem to.
constexpr double kSafeErrors = 0.5;
constexpr double kMostDegrees = 1000;

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

// Logarithms of the variances, unbiased for those of the true ones.
struct Logs {
  double size = 0;
  double mean = 0;
  double squares = 0;  // about the mean
  double chance = 0;   // what their variance would be were all true ones the same
};

Logs logs_of(const std::vector<SampleVariance>& seen) {
  Logs logs;
  std::vector<double> values;
  for (const SampleVariance& one : seen) {
    if (one.variance > 0 && one.degrees > 0) {
      values.push_back(std::log(one.variance) - digamma(one.degrees / 2) +
                       std::log(one.degrees / 2));
      logs.chance += trigamma(one.degrees / 2);
    }
  }
  logs.size = static_cast<double>(values.size());
  for (const double value : values) {
    logs.mean += value / logs.size;
  }
  for (const double value : values) {
    logs.squares += (value - logs.mean) * (value - logs.mean);
  }
  logs.chance /= std::max(1.0, logs.size);
  return logs;
}

}  // namespace

std::vector<Prior> learnt_priors(const std::vector<std::vector<SampleVariance>>& layers) {
  std::vector<Prior> priors(layers.size());
  std::vector<Logs> logs;
  double squares = 0;
  double chance = 0;
  double freedom = 0;
  for (const auto& seen : layers) {
    logs.push_back(logs_of(seen));
    if (logs.back().size > 1) {
      squares += logs.back().squares;
      freedom += logs.back().size - 1;
      chance += logs.back().chance * (logs.back().size - 1);
    }
  }
  if (freedom < 2) {
    return priors;
  }
  const double error = std::sqrt(2 / freedom) * std::max(squares, chance) / freedom;
  const double beyond = std::max(0.0, (squares - chance) / freedom) + kSafeErrors * error;
  const double half = std::min(kMostDegrees / 2, inverse_trigamma(beyond));
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (logs[i].size > 1) {
      priors[i] = {std::exp(logs[i].mean + digamma(half) - std::log(half)), 2 * half};
    }
  }
  return priors;
}

Prior assumed_prior(const Table& table, double pass_variance) {
  const double between = assumed_between(table.info.layer, table.role);
  return {between * between + pass_variance, kAssumedDegrees};
}

}  // namespace fleetbench::detect
