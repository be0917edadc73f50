// A simulated fleet as files.
#pragma once

#include <string>

#include "harness/simulate/fleet.hpp"
#include "results-schema/metric.hpp"

namespace fleetbench::simulation {

// The long CSV of imported samples: node, device, metric, unit, better, layer, cohort, pass, value,
// status; passes from 1, `value` empty where `status` is not ok, no row where nothing was recorded.
std::string to_csv(const Fleet& fleet);

// What is true of the fleet: seed, spec, faults, and each metric's typical value and spreads.
Json truth_of(const Fleet& fleet);

}  // namespace fleetbench::simulation
