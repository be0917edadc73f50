#include "harness/fleet/timeouts.hpp"

#include <algorithm>

namespace fleetbench::fleet {
namespace {

plan::Party sorted(plan::Party party) {
  std::ranges::sort(party);
  return party;
}

}  // namespace

bool Timeouts::add(int step, int slot, const plan::Party& party, const std::string& device) {
  auto& count = counts_[{step, sorted(party), device}];
  if (count.last_slot == slot) {
    return false;
  }
  count.last_slot = slot;
  return ++count.times == kTimeoutsAllowed;
}

bool Timeouts::left_out(int step, const plan::Party& party, const std::string& device) const {
  const auto found = counts_.find({step, sorted(party), device});
  return found != counts_.end() && found->second.times >= kTimeoutsAllowed;
}

}  // namespace fleetbench::fleet
