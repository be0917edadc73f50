// Levels of pairs by both ends, whichever way they went, and how unlike two nodes are by them.
#pragma once

#include <vector>

#include "harness/detect/pairs.hpp"

namespace fleetbench::detect {

// Partners that two nodes have to have in common, else nothing is known of the two.
inline constexpr std::size_t kFewestCommon = 5;

// Of many nodes, some are rows and stand for all; each has its levels with all nodes.
class PairLevels {
 public:
  PairLevels(int nodes, const std::vector<PairValue>& pairs);

  const std::vector<int>& met() const { return met_; }  // nodes with a pair
  const std::vector<int>& rows() const { return rows_; }
  // Not a number where they did not meet. `row` is a position in rows(), `node` any node.
  double at(std::size_t row, int node) const {
    return values_[row * nodes_ + static_cast<std::size_t>(node)];
  }
  // How unlike two rows are, see find_blocks(); not a number where too little is known.
  double unlike(std::size_t a, std::size_t b) const;
  // The same of any node and a row, by what rows have with both.
  double unlike_node(int node, std::size_t row) const;

 private:
  void fill(const std::vector<PairValue>& pairs);
  std::vector<int> partners() const;

  std::size_t nodes_ = 0;
  std::vector<int> met_;
  std::vector<int> rows_;
  std::vector<int> place_;  // of a node among the rows
  std::vector<double> values_;
};

}  // namespace fleetbench::detect
