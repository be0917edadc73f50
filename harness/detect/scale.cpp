#include "harness/detect/scale.hpp"

#include <algorithm>
#include <cmath>

#include "harness/detect/student.hpp"

namespace fleetbench::detect {
namespace {

// Degrees of freedom that the prior spread is worth. Four: it takes about a dozen peers to
// outweigh it (a MAD is worth .37 per peer), and among four nodes the long tail of t forgives a
// prior of a third of the true spread (simulated: .1 % of healthy fleets alarmed; 2 % with six
// degrees, 6 % with eight).
constexpr double kPriorDegrees = 4;
// What a MAD of n values is worth, in degrees of freedom per value (detection.md, section 3).
constexpr double kMadEfficiency = 0.37;
// No spread is believed below this: 0.2 %.
constexpr double kSmallestSigma = 0.002;

// Standard deviation between healthy nodes of one kind that is expected before looking. Published
// cohorts lie between 0.05 and 2.2 % for arithmetic; what goes through a kernel's network or
// storage stack spreads more. A link has the peculiarities of its path on top.
double prior_between(Layer layer, Role role) {
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

// Residuals of a fit with p parameters: p of them lie on the fit or close to it and say nothing
// about the spread, so the median is taken over the others.
double spread(const std::vector<double>& values, double centre, int fitted) {
  if (fitted == 0) {
    return mad_factor(values.size()) * deviation(values, centre);
  }
  std::vector<double> deviations;
  for (const double value : values) {
    deviations.push_back(std::abs(value - centre));
  }
  std::sort(deviations.begin(), deviations.end());
  const auto skipped = std::min<std::ptrdiff_t>(fitted, std::ssize(deviations) - 1);
  deviations.erase(deviations.begin(), deviations.begin() + skipped);
  return mad_factor(std::max<std::size_t>(2, deviations.size())) * median(std::move(deviations));
}

}  // namespace

Peers peers_of(const Table& table, const std::vector<double>& others) {
  Peers peers;
  peers.centre_variance = 1;
  if (!table.fixed_reference) {
    peers.centre = median(others);
    peers.seen = spread(others, peers.centre, table.fitted);
    peers.worth =
        kMadEfficiency * std::max(0.0, static_cast<double>(others.size()) - 1 - table.fitted);
    peers.centre_variance = median_variance(others.size());
  }
  peers.degrees = kPriorDegrees + peers.worth;
  peers.quantile = student_quantile(0.05, peers.degrees);
  return peers;
}

double shrunk_sigma(const Table& table, const Peers& peers, double pass_variance) {
  const double between = prior_between(table.info.layer, table.role);
  const double prior = between * between + pass_variance;
  const double variance = (kPriorDegrees * prior + peers.worth * peers.seen * peers.seen) /
                          (kPriorDegrees + peers.worth);
  return std::max(std::sqrt(variance), kSmallestSigma);
}

}  // namespace fleetbench::detect
