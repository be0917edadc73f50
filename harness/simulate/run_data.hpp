// A simulated fleet as the harness, or an import, would have recorded it.
#pragma once

#include "harness/simulate/fleet.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::simulation {

RunData to_run(const Fleet& fleet);

}  // namespace fleetbench::simulation
