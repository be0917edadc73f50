// Inventories as flat lists of path and text, and what of them most nodes share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "results-schema/baseline.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::detect {

using FlatInventory = std::map<std::string, std::string>;  // "cpu.governor" → "performance"

// Its facts (facts.hpp) as texts that a person reads.
FlatInventory flat_inventory(const Inventory& inventory);

// What more than half of the inventories have, path by path; paths that most lack are left out.
FlatInventory majority_inventory(const std::vector<FlatInventory>& inventories);

inline constexpr std::size_t kMostInventoryChanges = 20;

// Which fields of most of `nodes`, all of this cohort, are no longer what the baseline has: "kernel
// is 6.1.0-18, in the baseline 6.1.0-13". Sizes in bytes count as equal within 1 %. Fields that the
// baseline lacks are no change. Sorted, at most kMostInventoryChanges.
std::vector<std::string> inventory_changes(const Baseline& baseline, const std::string& cohort,
                                           const std::vector<NodeInfo>& nodes);

}  // namespace fleetbench::detect
