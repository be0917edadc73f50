// What pairs that go through the same switch, or use the same rail, have in common.
#pragma once

#include <optional>
#include <vector>

#include "harness/detect/pair_tables.hpp"
#include "harness/detect/table.hpp"

namespace fleetbench::detect {

// The switches that are known, the rails where there are several, and the rails of the nodes of
// each block that some table has. Of all but rails of the whole fleet there are two: all pairs with
// an end in it, and only those that leave it.
std::vector<Component> components_of(const std::vector<PairTables>& pairs, const Names& names,
                                     const Switches& switches);

// Tables of Role::shared, one for each kind of component, of which at least two have three pairs
// and three other pairs. In each pass a row's value is the median of its pairs, its reference the
// median of the others. Fewer than five rows do not tell how much healthy ones differ: that follows
// from how much pairs and nodes do.
std::vector<Table> component_tables(const PairTables& pairs, const Names& names);

}  // namespace fleetbench::detect
