// What a clock, a temperature or a power explains of a metric, and what is left.
#pragma once

#include <string>
#include <vector>

#include "harness/detect/table.hpp"

namespace fleetbench::detect {

// One covariate in the fit of a metric.
struct Explanation {
  std::string covariate;  // its name
  std::string unit;
  std::vector<double> values;   // of each row of `beyond`: the median over its passes
  std::vector<double> effects;  // what it adds to x there, against its median in the fleet
  double typical = 0;           // that median
};

struct Fitted {
  Table beyond;  // x without what the covariates explain, Look::beyond
  std::vector<Explanation> explanations;
};

// Fits each table of measured values by the covariates of its step, over the whole fleet: robust
// slopes (the median of the slopes of pairs that lie far apart), one covariate after the other,
// each only where it takes at least a sixth off the spread that is left; on the log scale where
// all its values are positive. Tables that no covariate explains, or of fewer than twenty subjects
// that have it, give no result.
std::vector<Fitted> fit_covariates(const std::vector<Table>& tables,
                                   const std::vector<Table>& covariates);

}  // namespace fleetbench::detect
