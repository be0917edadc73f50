// A simulated fleet as the harness would have recorded it; or, where its spec says `imported`, as
// the samples of another tool: one step without an id, nothing known of the nodes but their names.
#pragma once

#include "harness/simulate/fleet.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::simulation {

RunData to_run(const Fleet& fleet);

}  // namespace fleetbench::simulation
