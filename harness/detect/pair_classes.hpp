// Pairs that take the same kind of path, and how slow that kind is by itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/detect/switches.hpp"
#include "harness/detect/table.hpp"
#include "results-schema/report.hpp"

namespace fleetbench::detect {

struct PairClasses {
  std::vector<double> offsets;   // of each row, against all pairs together: log scale
  std::vector<int> block;        // by node, see blocks.hpp; empty: there are none
  std::optional<Blocks> blocks;  // what to report
  std::vector<std::string> notes;
};

// Of nodes whose switches are known, classes are the distances between their leaves; else pairs of
// blocks. A class that does not differ surely has the offset 0. `least`: blocks that are apart by
// less are none.
PairClasses classify(const Table& links, const Names& names, const Switches& switches,
                     double least);

// A sentence for the notes.
std::string describe_blocks(const Blocks& blocks);

}  // namespace fleetbench::detect
