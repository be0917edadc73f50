// A table of pairs → tables that can be judged: what each node adds to its links, and what is left
// of each link when its two ends are taken out.
#pragma once

#include <string>
#include <vector>

#include "harness/detect/table.hpp"

namespace fleetbench::detect {

struct PairTables {
  std::vector<Table> nodes;        // Role::sends and Role::receives, or Role::talks where symmetric
  Table links;                     // the given rows, with references
  std::vector<std::string> notes;  // what cannot be told apart
};

// `links` has Role::link; its rows' nodes are positions in `names`, those of the run's nodes.
// Node effects come from the medians of the passes, and are then followed through the passes by
// the median residual of the node's links, so passes may cover different pairs. Without node
// effects (fewer than 3 partners, groups that share no pair) links are judged directly.
PairTables derive(Table links, const std::vector<std::string>& names);

}  // namespace fleetbench::detect
