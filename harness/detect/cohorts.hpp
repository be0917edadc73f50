// Which nodes are meant to be alike.
#pragma once

#include <string>
#include <vector>

#include "results-schema/run.hpp"

namespace fleetbench::detect {

// A key for each node, in order: only nodes of one key are compared with each other.
std::vector<std::string> cohorts_of(const std::vector<NodeInfo>& nodes);

}  // namespace fleetbench::detect
