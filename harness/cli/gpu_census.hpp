// What GPUs the nodes of a run have, from what their ranks say.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/fleet/slot_state.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::cli {

struct GpuCensus {
  fleet::FleetGpus gpus;    // by node
  std::vector<Json> facts;  // by node, for its inventory; null where no rank of it answered
  bool any = false;         // somebody has one, or should have: CUDA or the PCI tree shows it
  std::vector<std::string> notes;  // "node3: the PCI tree shows 8 GPUs, CUDA none: …"
};

// `answers`: what Job::look_at_gpus() gave, by rank. `before`: the nodes as a run that goes on has
// them on record, in the same order; its GPUs keep their labels.
GpuCensus take_census(const std::vector<NodeInfo>& nodes, const std::map<int, Json>& answers,
                      const std::vector<NodeInfo>& before = {});

}  // namespace fleetbench::cli
