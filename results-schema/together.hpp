// Which samples of a slot are of those who measured with each other.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "results-schema/run.hpp"

namespace fleetbench {

struct Together {
  std::vector<int> group;  // nodes, in the order of members; empty: the whole fleet
  int node = -1;           // where each node measured by itself
  std::string rail;        // where one GPU of each node did, all called the same: what

  auto operator<=>(const Together&) const = default;
};

// Of a sample of a step of collectives.
Together together_of(const StepRecord& step, const SampleRecord& sample);

}  // namespace fleetbench
