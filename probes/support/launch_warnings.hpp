// What in the way the run was launched makes a node look slower than it is.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fleetbench {

// Pure. From an inventory as node_inventory() gives it, one sentence each that names the value and
// what to do: a cpuset smaller than the node, a CPU quota below the cpuset, a memory limit below
// the memory, a frequency governor that is not `performance`, fewer than 4096 open files. What the
// inventory does not say is not warned about; a null inventory has no warnings.
std::vector<std::string> launch_warnings(const nlohmann::json& inventory);

}  // namespace fleetbench
