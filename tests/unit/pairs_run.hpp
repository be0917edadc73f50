// A run with pairs of nodes, for tests of how they are shown.
#pragma once

#include <functional>
#include <string>

#include "results-schema/run.hpp"

namespace fleetbench {

// node0 … of them all, `nodes` in number, and no step.
RunData run_of(int nodes);

// One step more: every pair of the first `nodes` nodes both ways, of which `speed_of` tells the
// rate. A rail names the device at both ends.
StepRecord& add_pairs(RunData& run, const std::string& id, int nodes,
                      const std::function<double(int from, int to)>& speed_of,
                      const std::string& rail = "");

// The sample of one pair.
SampleRecord& sample_of_pair(RunData& run, int step, int from, int to);

// Four steps: four nodes of which one sends slowly and a pair failed; two interleaved blocks of
// twelve nodes on two rails, one of which has a bad node; 32 nodes' latency; 40 nodes.
RunData pairs_run();

}  // namespace fleetbench
