// After the last pass of a run: what looks slow is measured again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/cli/progress_lines.hpp"
#include "harness/cli/run_options.hpp"
#include "harness/fleet/job.hpp"
#include "harness/record/recorder.hpp"

namespace fleetbench::cli {

// The passes that were measured.
struct Passes {
  const std::vector<plan::PlannedStep>& steps;
  std::vector<std::string> devices;     // labels of all GPUs
  int slots = 0;                        // so many: numbers from here on are free
  fleet::Job::Clock::time_point start;  // of the run
  double end_s = 0;                     // where measuring has to end, on the clock of the run
  std::function<Report()> judge;        // what is known by now
};

// Judges the run and measures its suspects again, and so on until there are no more of whom that
// was not done, or the time for it is over: where one is not reproduced, what it explained may be a
// suspect itself. Returns at once where the run is interrupted or nobody looks slow. Between
// job.measure() and job.finish().
void confirm_suspects(fleet::Job& job, const Passes& passes, const RunOptions& options,
                      record::Recorder& recorder, ProgressLines& progress);

}  // namespace fleetbench::cli
