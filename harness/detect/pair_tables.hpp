// A table of pairs → tables that can be judged: what each node, or rail of a node, adds to its
// pairs, and what is left of each pair when its two ends are taken out.
#pragma once

#include <string>
#include <vector>

#include "harness/detect/pair_classes.hpp"
#include "harness/detect/table.hpp"

namespace fleetbench::detect {

struct PairTables {
  // Role::sends and Role::receives, or Role::talks where symmetric: of nodes, and of their rails
  // where pairs were measured on rails.
  std::vector<Table> nodes;
  Table links;                     // the given rows, with references
  PairClasses classes;             // of the links' rows
  std::vector<std::string> notes;  // what cannot be told apart, and which pairs were not measured
};

// `links` has Role::link; its rows' nodes are positions in `names`. Pairs on one rail are fitted by
// themselves, each rail; those whose ends have different devices, or several, together. What a
// class of pairs is slower by itself (pair_classes.hpp) is taken out before. Node effects come from
// the medians of the passes, and are then followed through the passes by the median residual of the
// node's links, so passes may cover different pairs. Without node effects (fewer than 3 partners,
// groups that share no pair) links are judged directly.
PairTables derive(Table links, const Names& names, const Switches& switches, double least_effect);

}  // namespace fleetbench::detect
