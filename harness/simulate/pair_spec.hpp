// What a simulated matrix of pairs is asked to be like. Noise and effects are shares: 0.05 is 5 %.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "harness/simulate/spec.hpp"

namespace fleetbench::simulation {

// What is wrong between nodes. All but the last three have to be found.
enum class PairFault {
  node,        // all that a node sends and receives
  rail,        // one rail of a node
  whole_rail,  // one rail of all nodes
  link,        // one direction of one pair, on one rail where there are rails
  leaf,        // all pairs with a node of a leaf, also those within
  uplink,      // pairs with one end under a leaf
  two_nodes,   // two nodes, whose pair is as slow as the slower
  none,
  failed,        // some pairs fail
  disconnected,  // two halves that no pair joins, and a slow node
};

enum class PairBlocks {
  none,
  two,     // nobody says so
  leaves,  // between leaves, as the topology says
};

struct PairSpec {
  int nodes = 16;
  int matchings = 0;  // random ones; 0: every pair
  int rails = 0;      // 0: pairs are of whole nodes
  int passes = 5;
  bool symmetric = false;
  double noise = 0.02;          // standard deviation of one value of a pair, log scale
  double between = 0.2;         // of nodes and of links, each against that noise
  Tails tails = Tails::normal;  // of nodes and of links
  int leaf_size = 0;            // nodes a leaf; 0: no topology is given
  PairBlocks blocks = PairBlocks::none;
  double block_effect = 0.6;  // between blocks
  PairFault fault = PairFault::none;
  double effect = 0.2;
};

// Throws InputError naming the first value that makes no matrix.
void check(const PairSpec& spec);

std::string_view to_string(PairFault fault);
const std::vector<PairFault>& all_pair_faults();

}  // namespace fleetbench::simulation
