// Groups of nodes between which pairs are slower than within, found from the pairs alone.
#pragma once

#include <vector>

#include "harness/detect/pairs.hpp"

namespace fleetbench::detect {

struct BlockSearch {
  bool looked_for = false;  // false: too few pairs have partners in common to tell
  std::vector<int> block;   // by node, from 0; -1: not measured. Empty: no blocks
  int blocks = 0;
};

// Two nodes are alike where their pairs with common partners k differ by the same amount, whatever
// it is: D_ij is the mean over (a sample of) k of |(y_ik - y_jk) - median over k|. A slow node
// differs from others by the same everywhere, so it is alike; a node of another block is not.
// Blocks are what is left when the widest gap between the lengths of the shortest tree over the
// nodes is cut, where at least two of them have three nodes and the nodes' pairs across are slower
// than those within by at least `least` (log scale). Of many nodes some stand for all; the others,
// and what is left over, go to the block whose nodes they are most alike.
//
// Where few nodes have partners in common (random matchings), levels that fall into two groups tell
// blocks: what fast pairs join.
BlockSearch find_blocks(int nodes, const std::vector<PairValue>& pairs, double least);

}  // namespace fleetbench::detect
