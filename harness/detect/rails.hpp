// Pairs by the rail on which they were measured.
#pragma once

#include <memory>
#include <vector>

#include "harness/detect/pairs.hpp"
#include "harness/detect/table.hpp"

namespace fleetbench::detect {

// Rows of one rail; or all whose ends have different devices, several, or none that is known.
struct Stratum {
  int rail = -1;           // position in Names::devices
  std::vector<int> rows;   // of the table
  std::vector<int> nodes;  // of these rows, ascending
  // Of every node of the run: its position in `nodes` of the one stratum that shares this and has
  // it.
  std::shared_ptr<const std::vector<int>> places;
  PairFit fit;  // numbers nodes by their positions in `nodes`

  int place_of(int node) const { return (*places)[node]; }
  double expected(const Row& row) const {
    return fit.expected(place_of(row.node), place_of(row.peer));
  }
};

// By rail, those of none first, and by the groups of nodes that no pair joins; each fitted, on
// levels less `offsets` of the rows. Pairs of which there are too few to be fitted are one of no
// rail.
std::vector<Stratum> fit_strata(const Table& links, const Names& names,
                                const std::vector<double>& offsets);

// What one end adds to its pairs, for every node that could be fitted. Values are the fitted effect
// plus, in each pass, the median of what its pairs show beyond it. Rows of a rail have its device;
// where there are several strata, their usual level is the rows' reference.
Table end_table(const Table& links, const std::vector<Stratum>& strata,
                const std::vector<double>& offsets, Role role, bool of_rails);

// Of a table of rails of nodes: the median over each node's rails, where some node has several.
// Without rows where none has.
Table node_table_of_rails(const Table& rails);

}  // namespace fleetbench::detect
