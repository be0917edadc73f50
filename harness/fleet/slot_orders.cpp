#include "harness/fleet/slot_orders.hpp"

#include <algorithm>
#include <map>

namespace fleetbench::fleet {

// What a probe of a group is told of the others.
Json SlotOrders::place_of(int node, const plan::Party& party) const {
  return {{"index", std::find(party.begin(), party.end(), node) - party.begin()},
          {"nodes", attendance_.names_of(party)}};
}

// The teams of an owner's GPUs, each once.
void SlotOrders::add_teams(const SlotState& state, const Owner& owner, Order& order) const {
  std::map<std::size_t, int> numbers;
  for (GpuSeat& seat : order.gpus) {
    const auto& team = state.teams[owner.teams.at(seat.label)];
    const auto [number, is_new] =
        numbers.try_emplace(owner.teams.at(seat.label), static_cast<int>(order.teams.size()));
    if (is_new) {
      order.teams.push_back({attendance_.names_of(plan::nodes_of(team)), plan::labels_of(team)});
    }
    seat.team = number->second;
    seat.index = static_cast<int>(owner.members.at(seat.label));
  }
}

Order SlotOrders::order_for(const SlotState& state, const Owner& owner, int turn) const {
  const auto& step = steps_[static_cast<std::size_t>(state.slot.step)];
  const auto& party = state.party_of(owner);
  Order order{.slot = state.slot.index,
              .turn = turn,
              .runner = step.runner,
              .probe = step.probe.name,
              .params = step.scenario.params,
              .work = step.work,
              .members = {},
              .gpus = {},
              .in_one_process = step.probe.all_gpus,
              .limit_s = step.scenario.limit_s};
  if (step.runner == plan::Runner::rank) {
    for (const int node : party) {
      order.members.push_back(nodes_[static_cast<std::size_t>(node)].leader());
    }
  } else if (step.probe.participants == Participants::group && state.teams.empty()) {
    order.work["place"] = place_of(owner.node, party);
  }
  for (const auto& gpu : owner.gpus) {
    order.gpus.push_back({gpu.label, gpu.uuid});
  }
  if (!state.teams.empty()) {
    add_teams(state, owner, order);
  }
  return order;
}

}  // namespace fleetbench::fleet
