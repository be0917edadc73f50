// Who measures with whom in groups that are smaller than the fleet.
#pragma once

#include <cstdint>
#include <vector>

namespace fleetbench::plan {

using Group = std::vector<int>;

// A fleet of fewer cannot be split into groups.
inline constexpr int kFewestToGroup = 4;

// `rounds` random partitions of 0 … nodes-1 into groups of about `size`: as many groups as fit
// best, at least two, so that a group is never the fleet; and as equal as they can be, so that they
// can be compared. Groups have at least two members, at least half of `size` (rounded down) where
// the fleet has `size` nodes, and at most 3/2 of it. Empty for fewer than kFewestToGroup nodes.
std::vector<std::vector<Group>> shuffled_groups(int nodes, int size, int rounds,
                                                std::uint64_t seed);

}  // namespace fleetbench::plan
