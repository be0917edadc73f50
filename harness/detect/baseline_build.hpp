// Runs of a healthy fleet → what later runs are compared with. Pure.
#pragma once

#include <string>
#include <vector>

#include "results-schema/baseline.hpp"
#include "results-schema/report.hpp"
#include "results-schema/run.hpp"

namespace fleetbench {

// A run and what the detector says of it. Both must outlive the call.
struct BaselineRun {
  const RunData* run = nullptr;
  const Report* report = nullptr;
};

// A node with a finding, and whether that kept it out of the baseline.
struct Doubt {
  std::string run_id;
  std::string node;
  std::string reason;  // "slow in host: 14 % slower than its peers (suspect)"
  bool excluded = true;
};

struct BuiltBaseline {
  Baseline baseline;
  std::vector<Doubt> doubts;  // in the order of runs and findings
};

// A node with a finding `slow`, `wrong` or `missing`, of its own or of one of its devices, is left
// out of that run: a baseline with a fault in it would hide the fault for ever. Findings that were
// not reproduced do not count, for the disturbance is over; nor do tentative ones, for among three
// or four nodes a healthy one easily has some, and what was left would be no fleet.
//
// A node that was of several cohorts is known by the last. The order of `runs` does not matter but
// for runs of the same time. Throws InputError where two runs have a metric in different units.
BuiltBaseline build_baseline(std::vector<BaselineRun> runs, const std::string& created);

}  // namespace fleetbench
