// In which order the nodes of a matrix of pairs stand, so that a person sees what there is to see.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace fleetbench::report {

// [from][to], all above 0; absent where it was not measured. Square.
using PairSpeeds = std::vector<std::vector<std::optional<double>>>;

// Positions of the nodes. Those whose rows and columns are alike stand together: large groups come
// before small ones, of the same size the one with the lowest node first, and nodes that are like
// no other come last. Within a group, and among the last, by their average, the fastest first, in
// steps of 2 % and within one in the order of the nodes. So blocks are squares along the diagonal,
// a bad node is the last row and column, and where all are alike nobody moves.
//
// Groups are those of agglomerative clustering with average linkage. How far two nodes are apart is
// the median difference of their rows on the log scale, or that of their columns, whichever is
// larger: one bad link moves nobody. They are cut where they are over 2.5 times as far apart as is
// usual, and by 5 %.
std::vector<std::size_t> order_by_likeness(const PairSpeeds& speeds);

}  // namespace fleetbench::report
