// Which layers a setting of a node can slow.
#pragma once

#include <string>
#include <vector>

#include "results-schema/inventory.hpp"
#include "results-schema/metric.hpp"

namespace fleetbench::detect {

// Of a path of the inventory. What the CPUs and the memory do, everything that they serve does too
// (docs/architecture.md); a PCIe link is that of the device behind it, as `inventory` has it.
std::vector<Layer> layers_explained_by(const std::string& path, const Inventory& inventory);

}  // namespace fleetbench::detect
