// The nodes whose pairs are slowest, where they are too many for a matrix.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/report/pair_data.hpp"

namespace fleetbench::report {

// A table of the ten slowest of `nodes` nodes by the median of what they send or receive, whichever
// is less. `speeds` are those of the cells, against the median pair.
std::string worst_nodes_text(std::size_t nodes, const std::vector<PairCell>& cells,
                             const std::vector<std::optional<double>>& speeds,
                             const std::function<std::string(std::size_t)>& name_of);

}  // namespace fleetbench::report
