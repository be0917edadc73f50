// The steps that runs of nccl-tests are compared in, and their values there.
#pragma once

#include <string>
#include <vector>

#include "harness/record/nccl_run.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::record {

// Where a run stands: its collective, and a list of values for each time that it measured all.
struct NcclPlace {
  std::string collective;  // empty where it is not known
  std::vector<Values> values;
};

// "2 nodes x 4 GPUs", "3 nodes, 10 GPUs", "8 GPUs"; of several communicators ", 8 groups" besides.
std::string nccl_shape(const NcclRun& run);

class NcclSteps {
 public:
  // Runs of the same collective and shape have a step in common; steps are in the order of their
  // names. Precondition: each has a rank. `runs` are looked at here only.
  explicit NcclSteps(const std::vector<const NcclRun*>& runs);

  const std::vector<StepRecord>& records() const { return records_; }
  const NcclPlace& place(std::size_t run) const { return places_.at(run); }
  const StepRecord& step(std::size_t run) const { return records_.at(step_of_.at(run)); }

 private:
  std::vector<StepRecord> records_;
  std::vector<std::size_t> step_of_;  // by run
  std::vector<NcclPlace> places_;     // by run
};

}  // namespace fleetbench::record
