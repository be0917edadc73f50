#include "harness/fleet/slot_state.hpp"

#include <fmt/format.h>

#include <utility>

namespace fleetbench::fleet {
namespace {

// What one process measures is owned by one rank, which may see less than all of it: the probe says
// so then.
void add_owners_of_gpus(SlotState& state, int node, std::size_t party,
                        const std::vector<plan::OwnedGpu>& gpus, bool in_one_process) {
  for (const auto& gpu : gpus) {
    Owner& owner = state.owners[in_one_process ? gpus.front().rank : gpu.rank];
    owner.node = node;
    owner.party = party;
    owner.gpus.push_back(gpu);
  }
}

}  // namespace

SlotState open(const plan::Slot& slot, const plan::PlannedStep& step,
               const std::vector<NodeInfo>& nodes, const FleetGpus& gpus) {
  SlotState state;
  state.slot = slot;
  for (std::size_t i = 0; i < slot.parties.size(); ++i) {
    const auto& party = slot.parties[i];
    for (const int node : party) {
      if (step.runner == plan::Runner::gpu_workers) {
        add_owners_of_gpus(state, node, i, gpus[static_cast<std::size_t>(node)],
                           step.probe.all_gpus);
        continue;
      }
      Owner owner{.node = node, .peer = std::nullopt, .party = i};
      if (step.probe.participants == Participants::pair) {
        owner.peer = party[0] == node ? party[1] : party[0];
      }
      state.owners[nodes[static_cast<std::size_t>(node)].leader()] = owner;
    }
  }
  return state;
}

plan::Party group_of(const SlotState& state, const Owner& owner, const plan::PlannedStep& step,
                     std::size_t nodes) {
  const auto& party = state.party_of(owner);
  const bool some = step.scenario.groups.has_value() || party.size() < nodes;
  return step.probe.participants == Participants::group && some ? party : plan::Party{};
}

SampleRecord failed_sample(Status status, std::string reason, const SlotState& state,
                           const Owner& owner, const plan::PlannedStep& step, std::size_t nodes) {
  return {.slot = state.slot.index,
          .step = state.slot.step,
          .pass = state.slot.pass,
          .node = owner.node,
          .peer = owner.peer,
          .confirms = state.slot.confirms,
          .group = group_of(state, owner, step, nodes),
          .status = status,
          .reason = std::move(reason),
          .values = {},
          .start_s = state.start_s,
          .prepare_s = owner.prepare_s,
          .measure_s = 0,
          .detail = nullptr};
}

SampleRecord sample_from(const Json& answer, const SlotState& state, const Owner& owner,
                         const plan::PlannedStep& step, std::size_t nodes) {
  auto sample = failed_sample(parse_status(answer.value("status", "failed")),
                              answer.value("reason", ""), state, owner, step, nodes);
  sample.device = answer.value("device", "");
  sample.measure_s = answer.value("s", 0.0);
  sample.detail = answer.value("detail", Json());
  if (sample.status != Status::ok) {
    return sample;
  }
  sample.values = values_from_json(answer.value("values", Json::array()));
  const auto expected = step.metrics.size();
  if (sample.values.size() != expected) {
    sample.status = Status::failed;
    sample.reason =
        fmt::format("it gave {} values, {} were asked for", sample.values.size(), expected);
    sample.values.clear();
  }
  return sample;
}

}  // namespace fleetbench::fleet
