// One rank's part in a job: the root leads, the others follow.
#pragma once

#include <functional>

#include "harness/cli/run_plan.hpp"

namespace fleetbench::cli {

// Whether this is the root, which alone speaks to the user; known before the job is joined.
bool is_root_process();

// Joins the job and stays until the run is over; returns the exit code. `make_plan` is called by
// the root alone, before it joins.
int take_part(const RunOptions& options, std::chrono::steady_clock::time_point start,
              const std::function<RunPlan(worker::Worker&)>& make_plan);

}  // namespace fleetbench::cli
