// Who meets whom, in rounds of disjoint pairs.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace fleetbench::plan {

using Pair = std::pair<int, int>;
using Round = std::vector<Pair>;

// Every pair of 0 … nodes-1 exactly once, by the circle method: nodes-1 rounds (nodes of them for
// an odd count, each with one node idle). Empty for fewer than two nodes.
std::vector<Round> all_pairs(int nodes);

// `count` random rounds without a pair twice: rounds drawn from all_pairs() of a random
// relabelling. All of all_pairs() where count is as large. Takes memory for `count` rounds only.
std::vector<Round> matchings(int nodes, int count, std::uint64_t seed);

}  // namespace fleetbench::plan
