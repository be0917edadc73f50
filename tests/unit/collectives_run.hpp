// A run of collectives on four nodes, as the harness would have recorded it: one step with the
// whole fleet, in whose second pass an element was wrong, and one in groups of two.
#pragma once

#include "results-schema/run.hpp"

namespace fleetbench {

RunData collectives_run();

}  // namespace fleetbench
