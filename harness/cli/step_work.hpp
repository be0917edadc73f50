// How much work each step of a run does: the same on all its nodes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/cli/catalog.hpp"
#include "harness/cli/gpu_census.hpp"
#include "harness/fleet/job.hpp"

namespace fleetbench::cli {

// Steps that one step of the scenario was made into do the same work.
class StepWork {
 public:
  // All of them must outlive it.
  StepWork(fleet::Job& job, Catalog& catalog, const std::vector<NodeInfo>& nodes,
           const GpuCensus& census, fleet::Progress& progress)
      : job_(job), catalog_(catalog), nodes_(nodes), census_(census), progress_(progress) {}

  // Fixes the step's work, trying it for so long at most. Where none is found, the step gets no
  // passes: returns why, else nothing. Throws fleet::Interrupted.
  std::string find(plan::PlannedStep& step, double limit_s);
  // The same for a step that is on record in the run that goes on.
  std::string take_over(plan::PlannedStep& step, const StepRecord& recorded, const RunData& before);

 private:
  Json tried(const plan::PlannedStep& step, double limit_s);
  Json tried_on_gpus(const plan::PlannedStep& step, double limit_s);
  std::vector<std::size_t> nodes_to_try() const;

  fleet::Job& job_;
  Catalog& catalog_;
  const std::vector<NodeInfo>& nodes_;
  const GpuCensus& census_;
  fleet::Progress& progress_;
  std::map<std::string, Json> found_;  // by step of the scenario
  std::set<std::size_t> failed_;       // nodes on whose GPUs no work could be found
};

}  // namespace fleetbench::cli
