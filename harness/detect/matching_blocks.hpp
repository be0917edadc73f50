// Blocks of nodes that met in few random matchings, so that no two have partners in common.
#pragma once

#include "harness/detect/blocks.hpp"

namespace fleetbench::detect {

// What fast pairs join, where levels fall into two groups and nearly all pairs between what they
// join are slow, nearly all within fast. Nodes without a fast pair join the block that their pairs
// fit best. Not looked for where levels are of one group.
BlockSearch blocks_of_matchings(int nodes, const std::vector<PairValue>& pairs);

}  // namespace fleetbench::detect
