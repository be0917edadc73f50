// What a subject is compared with: centre and spread of its peers.
#pragma once

#include <vector>

#include "harness/detect/table.hpp"

namespace fleetbench::detect {

// What the other subjects say, before the prior is mixed in. Log scale.
struct Peers {
  double centre = 0;
  double seen = 0;             // their spread, of one subject
  double worth = 0;            // degrees of freedom of that spread
  double degrees = 0;          // with the prior's
  double centre_variance = 0;  // in units of one subject's variance
  double quantile = 0;         // of Student's t at 95 %
};

// `others` are levels minus references.
Peers peers_of(const Table& table, const std::vector<double>& others);

// Sigma of the level of one healthy subject: what was seen, shrunk toward what was expected.
// `pass_variance` is the part of its variance that comes from its passes.
double shrunk_sigma(const Table& table, const Peers& peers, double pass_variance);

// Assumed from pass to pass where there is only one pass to see: 5 %.
inline constexpr double kSinglePassSigma = 0.05;

}  // namespace fleetbench::detect
