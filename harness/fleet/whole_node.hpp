// What one worker for all GPUs of a node is told, and what its answer says of each of them.
#pragma once

#include <vector>

#include "harness/fleet/slot_runner.hpp"

namespace fleetbench::fleet {

// The step's work, and under "gpus" who is to be measured: [{"label": "gpu3", "uuid"}…].
Json work_for_all(Json work, const std::vector<GpuSeat>& gpus);

// One outcome for each of `gpus`, in their order. Of a measurement they come from the "devices" of
// the answer's detail, [{"uuid", "status", "reason", "values", "detail"}…], and have the rest of
// that detail in common; who is not among them has failed. An answer without "devices", be it that
// the worker died, holds for all. It is ok where that of any device is.
Outcome outcome_of_all(Outcome answer, const std::vector<GpuSeat>& gpus);

}  // namespace fleetbench::fleet
