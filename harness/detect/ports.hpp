// What each row of pairs or groups touches: nodes, or devices of theirs.
#pragma once

#include <span>
#include <vector>

#include "harness/detect/table.hpp"

namespace fleetbench::detect {

class Ports {
 public:
  Ports(const Table& table, const Names& names);

  std::size_t rows() const { return start_.size() - 1; }
  std::span<const Port> of(std::size_t row) const {
    return {ports_.data() + start_[row], ports_.data() + start_[row + 1]};
  }
  // Whether the row touches the component; where only what leaves it counts, with one node alone.
  bool touches(std::size_t row, const Component& component) const;

 private:
  std::vector<std::size_t> start_;
  std::vector<Port> ports_;  // of a row sorted by node
};

// Which rows touch each component, in their order.
std::vector<std::vector<int>> touching(const Ports& ports,
                                       const std::vector<Component>& components);

}  // namespace fleetbench::detect
