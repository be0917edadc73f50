// Simulated pairs of nodes: a run as the harness would have recorded it, and who is at fault.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/simulate/fleet.hpp"
#include "harness/simulate/pair_spec.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::simulation {

struct PairFleet {
  RunData run;
  std::vector<TrueFault> faults;  // of direction slow; of a link its direction
};

// Pure: equal spec and seed give equal runs. A bandwidth is that of the narrower end, times what
// the pair and the noise add.
PairFleet simulate_pairs(const PairSpec& spec, std::uint64_t seed);

}  // namespace fleetbench::simulation
