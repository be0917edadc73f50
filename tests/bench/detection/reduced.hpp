// What oracle and rules look at: one value per metric and subject.
#pragma once

#include <vector>

#include "harness/simulate/fleet.hpp"

namespace fleetbench::bench {

using Values2 = std::vector<std::vector<double>>;  // [metric][subject]

// Medians over passes of the log slowness.
Values2 medians(const simulation::Fleet& fleet);
// Variance of the median of `passes` normal values with variance 1.
double median_variance(int passes);
double median_of(std::vector<double> values);

}  // namespace fleetbench::bench
