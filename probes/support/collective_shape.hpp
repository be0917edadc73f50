// What each collective moves between the buffers of its members. PURE.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "results-schema/collective_rule.hpp"

namespace fleetbench {

// Of the members' positions, 0 is the root where there is one.
struct CollectiveShape {
  // What a member has received afterwards: parts of all members one after the other, the sum of
  // all, the same at the root alone, what the root sent, or what the member before it sent.
  enum class Arrives { from_each, summed, summed_at_root, from_root, from_previous };

  const CollectiveRule* rule = nullptr;
  Arrives arrives = Arrives::from_each;
  // True: members send one part to each, and a member gets the part at its own position. False:
  // they send one part to all.
  bool own_part = false;

  // The floats of a member's buffers, for the `count` of the rule.
  std::size_t send_count(std::size_t count, std::size_t members) const {
    return own_part ? count * members : count;
  }
  std::size_t receive_count(std::size_t count, std::size_t members) const {
    return arrives == Arrives::from_each ? count * members : count;
  }
};

// One for each of collective_rules(), in that order.
const std::vector<CollectiveShape>& collective_shapes();
// Throws std::invalid_argument where there is none.
const CollectiveShape& collective_shape(std::string_view name);

}  // namespace fleetbench
