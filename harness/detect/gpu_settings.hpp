// Settings of GPUs, compared among all GPUs of a cohort: power limits, clocks, VBIOS, ECC, MIG …
#pragma once

#include <string_view>
#include <vector>

#include "harness/detect/configuration.hpp"
#include "harness/detect/facts.hpp"

namespace fleetbench::detect {

// Begins the paths of a node's GPUs in its inventory.
inline constexpr std::string_view kGpuPaths = "cuda.gpus[";

// GPUs of one model that differ from at least 60 % of those of the nodes `members`, by their
// labels; where all of a node differ in the same way they are one difference. Compared so is what
// all GPUs of most nodes have in common; what differs within a node by nature (a NUMA node) is not.
// Appends to `result`.
void compare_gpus(const std::vector<NodeInfo>& nodes, const std::vector<int>& members,
                  FactPool& pool, std::vector<Difference>& result);

}  // namespace fleetbench::detect
