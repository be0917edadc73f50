// The collectives of a run as nccl-tests prints them, for people and programs that read its tables.
#pragma once

#include <string>

#include "results-schema/run.hpp"

namespace fleetbench {

// One table for each step, group and collective: nccl-tests' thirteen columns, of which those for
// in-place calls are N/A, since they are not measured, and its footer with the average bus
// bandwidth. Lines that begin with # say what was measured, on whom. A time is the mean over the
// ranks, which is nccl-tests' default, and of several passes the median; `#wrong` is that of the
// pass with most. Sizes too small for the group have no row. Empty where a run has no collectives;
// samples whose detail cannot be read are left out.
std::string collectives_table(const RunData& run);

}  // namespace fleetbench
