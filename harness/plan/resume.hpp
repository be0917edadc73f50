// A run that broke off goes on: with whom, and what is missing.
#pragma once

#include <string>
#include <vector>

#include "harness/plan/gpu_seats.hpp"
#include "harness/plan/slots.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::plan {

struct MatchedNodes {
  std::vector<NodeInfo> nodes;         // those of the run, with the ranks that they have now
  std::vector<std::string> strangers;  // came up now and were not part of it
};

// Nodes are the same where their names are. Who did not come up has no ranks.
MatchedNodes match_nodes(const std::vector<NodeInfo>& before, const std::vector<NodeInfo>& now);

// Adds hosts that were expected and did not come up; they have no ranks.
void add_absent(std::vector<NodeInfo>& nodes, const std::vector<std::string>& hosts);

// Of the slots of a run, the parties of which a node that takes part, or one of its GPUs in a step
// on GPUs, has no sample in `run`, good or bad. Who measures together does so again where one of
// them has none. `gpus`: by node.
std::vector<Slot> missing_slots(std::vector<Slot> slots, const std::vector<PlannedStep>& steps,
                                const RunData& run, const std::vector<NodeInfo>& nodes,
                                const std::vector<std::vector<OwnedGpu>>& gpus);

}  // namespace fleetbench::plan
