// After the last pass of a run: what looks slow is measured again.
#pragma once

#include "harness/cli/progress_lines.hpp"
#include "harness/cli/run_options.hpp"
#include "harness/fleet/job.hpp"
#include "harness/record/recorder.hpp"

namespace fleetbench::cli {

// Judges the run and measures its suspects again, and so on until there are no more of whom that
// was not done, or the time for it is over: where one is not reproduced, what it explained may be a
// suspect itself. `first_slot`: the number of the first slot that is free. Returns at once where
// the run is interrupted or nobody looks slow. Between job.measure() and job.finish().
void confirm_suspects(fleet::Job& job, const RunOptions& options,
                      const std::vector<plan::PlannedStep>& steps, int first_slot,
                      fleet::Job::Clock::time_point start, record::Recorder& recorder,
                      ProgressLines& progress);

}  // namespace fleetbench::cli
