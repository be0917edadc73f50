// What the owners of a slot are asked to prepare.
#pragma once

#include <vector>

#include "harness/fleet/attendance.hpp"
#include "harness/fleet/order.hpp"
#include "harness/fleet/slot_state.hpp"
#include "harness/plan/slots.hpp"

namespace fleetbench::fleet {

class SlotOrders {
 public:
  // All of them must outlive it.
  SlotOrders(const std::vector<NodeInfo>& nodes, const std::vector<plan::PlannedStep>& steps,
             const Attendance& attendance)
      : nodes_(nodes), steps_(steps), attendance_(attendance) {}

  // `turn`: how many slots of this job came before.
  Order order_for(const SlotState& state, const Owner& owner, int turn) const;

 private:
  Json place_of(int node, const plan::Party& party) const;
  void add_teams(const SlotState& state, const Owner& owner, Order& order) const;

  const std::vector<NodeInfo>& nodes_;
  const std::vector<plan::PlannedStep>& steps_;
  const Attendance& attendance_;
};

}  // namespace fleetbench::fleet
