// Commands in next checks, for just this step on just this node and device.
#pragma once

#include <vector>

#include "results-schema/report.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::detect {

// Fills in what a next check leaves open, for the step that the finding is about:
//   {node}  the node's name
//   {gpu}   "CUDA_VISIBLE_DEVICES=GPU-… " before a command, so that it sees the finding's device
//           alone; nothing where the finding is of a whole node
//   {run}   "fleetbench --suite gpu --only gpu_gemm --passes 1 --no-confirm": that step by itself,
//           on the node where it is typed, without a launcher
// A next check without braces stays as it is.
void fill_next_checks(const RunData& run, std::vector<Finding>& findings);

}  // namespace fleetbench::detect
