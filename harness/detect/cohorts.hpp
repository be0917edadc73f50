// Which nodes are meant to be alike.
#pragma once

#include <string>
#include <vector>

#include "results-schema/run.hpp"

namespace fleetbench::detect {

// A key for each node, in order: only nodes of one key are compared with each other. It is the
// cohort that the node was given, else the text of its hardware. A node of which nothing is known
// belongs to the largest cohort. So does to a large one (a tenth of the fleet, three nodes at
// least) who differs from it only in that models are missing or additional, or in the speed of the
// network, unless that group is as large: what is broken has no cohort of its own.
std::vector<std::string> cohorts_of(const std::vector<NodeInfo>& nodes);

}  // namespace fleetbench::detect
