// Groups that were re-shuffled → what each node adds to its groups.
#pragma once

#include <string>
#include <vector>

#include "harness/detect/table.hpp"

namespace fleetbench::detect {

struct GroupTables {
  std::vector<Table> nodes;        // Role::talks
  std::vector<std::string> notes;  // what cannot be told apart
};

// A group is as slow as its slowest member, so a node is at most as slow as its fastest group: that
// is its level, followed through the passes by the median of what its groups show beyond theirs.
// Of a node it takes three groups that have nobody else in common. `groups` has rows of groups; the
// whole fleet in one names nobody.
GroupTables tables_of_groups(const Table& groups, const Names& names);

}  // namespace fleetbench::detect
