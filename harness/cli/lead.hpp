// The root's part of a run: who takes part, what is measured, what comes of it.
#pragma once

#include "harness/cli/run_plan.hpp"
#include "harness/fleet/job.hpp"

namespace fleetbench::cli {

// From the moment all ranks are in the job until the report is printed; returns the exit code.
// `start`: when this process began. Throws fleet::Interrupted, fleet::FleetError,
// std::system_error where the run directory cannot be written at all.
int lead(fleet::Job& job, RunPlan& plan, std::chrono::steady_clock::time_point start);

}  // namespace fleetbench::cli
