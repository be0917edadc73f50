// What pairs of nodes reached, as a matrix on a terminal.
#pragma once

#include <string>

#include "results-schema/report.hpp"
#include "results-schema/run.hpp"

namespace fleetbench {

// Of more nodes than these the worst ones are listed instead.
inline constexpr std::size_t kMostNodesOfMatrix = 32;

// One matrix for each step, rail and metric of pairs: rows are where data came from, columns where
// it went, cells the speed in per cent of the median pair, so that less is slower for times and
// rates alike. Nodes stand in the order of order_by_likeness (node_order.hpp). At most 100 columns
// wide; where names would not fit, nodes have numbers, with the names below. Empty where a run has
// no pairs.
std::string pair_matrices_text(const RunData& run);

// Of those only the matrices that have something to do with findings of the report, none of which
// is too large to be one: what belongs below a summary.
std::string pair_matrices_of_findings(const RunData& run, const Report& report);

}  // namespace fleetbench
