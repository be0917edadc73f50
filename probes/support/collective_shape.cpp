#include "probes/support/collective_shape.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace fleetbench {

const std::vector<CollectiveShape>& collective_shapes() {
  using Arrives = CollectiveShape::Arrives;
  static const std::vector<CollectiveShape> list = [] {
    const auto rule = [](const char* name) { return find_collective_rule(name); };
    return std::vector<CollectiveShape>{{rule("all_reduce"), Arrives::summed, false},
                                        {rule("all_gather"), Arrives::from_each, false},
                                        {rule("reduce_scatter"), Arrives::summed, true},
                                        {rule("all_to_all"), Arrives::from_each, true},
                                        {rule("broadcast"), Arrives::from_root, false},
                                        {rule("reduce"), Arrives::summed_at_root, false},
                                        {rule("sendrecv"), Arrives::from_previous, false}};
  }();
  return list;
}

const CollectiveShape& collective_shape(std::string_view name) {
  const auto found = std::ranges::find(
      collective_shapes(), name, [](const CollectiveShape& shape) { return shape.rule->name; });
  if (found == collective_shapes().end()) {
    throw std::invalid_argument("\"" + std::string(name) + "\" is no collective");
  }
  return *found;
}

}  // namespace fleetbench
