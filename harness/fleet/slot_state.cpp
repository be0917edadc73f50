#include "harness/fleet/slot_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace fleetbench::fleet {
namespace {

// All members of larger teams in the sample of each of them would be most of a journal.
constexpr std::size_t kMostEnds = 256;
// Two tell that it is a rail.
constexpr int kEndsOfLargeRail = 2;

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

// The same in each sample of a rail, in whatever order its members are.
std::vector<End> ends_of_large(const plan::Team& team) {
  const std::string rail = plan::rail_of(team);
  if (rail.empty()) {
    return {};
  }
  plan::Party nodes = plan::nodes_of(team);
  std::ranges::partial_sort(nodes, nodes.begin() + kEndsOfLargeRail);
  std::vector<End> ends;
  for (int i = 0; i < kEndsOfLargeRail; ++i) {
    ends.push_back({nodes[static_cast<std::size_t>(i)], rail});
  }
  return ends;
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

SlotState open_teams(const plan::Slot& slot, const plan::PlannedStep& step,
                     std::vector<plan::Team> teams) {
  SlotState state;
  state.slot = slot;
  for (std::size_t i = 0; i < teams.size(); ++i) {
    const auto& party = slot.parties[teams[i].party];
    for (std::size_t j = 0; j < teams[i].members.size(); ++j) {
      const plan::Member& member = teams[i].members[j];
      Owner& owner = state.owners[member.gpu.rank];
      owner.node = member.node;
      owner.party = teams[i].party;
      owner.gpus.push_back(member.gpu);
      owner.teams[member.gpu.label] = i;
      owner.members[member.gpu.label] = j;
      if (step.probe.participants == Participants::pair) {
        owner.peer = party[0] == member.node ? party[1] : party[0];
      }
    }
  }
  state.teams = std::move(teams);
  return state;
}

std::vector<End> ends_of(const plan::Team& team, const plan::PlannedStep& step, int node) {
  std::vector<End> ends;
  if (team.is_whole && !plan::is_of_rails(step)) {
    return ends;
  }
  if (team.members.size() > kMostEnds) {
    return ends_of_large(team);
  }
  for (const plan::Member& member : team.members) {
    ends.push_back({member.node, member.gpu.label});
  }
  if (step.probe.participants == Participants::pair) {
    std::ranges::stable_partition(ends, [node](const End& end) { return end.node == node; });
  }
  return ends;
}

plan::Party group_of(const SlotState& state, const Owner& owner, const plan::PlannedStep& step,
                     std::size_t nodes, const std::string& device) {
  plan::Party party = state.party_of(owner);
  if (const auto team = owner.teams.find(device); team != owner.teams.end()) {
    party = plan::nodes_of(state.teams[team->second]);
  }
  const bool some = step.scenario.groups.has_value() || party.size() < nodes;
  return step.probe.participants == Participants::group && some ? party : plan::Party{};
}

SampleRecord sample_from(const Json& answer, const SlotState& state, const Owner& owner,
                         const plan::PlannedStep& step, std::size_t nodes) {
  const std::string device = answer.value("device", "");
  SampleRecord sample{.slot = state.slot.index,
                      .step = state.slot.step,
                      .pass = state.slot.pass,
                      .node = owner.node,
                      .device = device,
                      .peer = owner.peer,
                      .confirms = state.slot.confirms,
                      .group = group_of(state, owner, step, nodes, device),
                      .ends = {},
                      .status = parse_status(answer.value("status", "failed")),
                      .reason = answer.value("reason", ""),
                      .values = {},
                      .start_s = state.start_s,
                      .prepare_s = owner.prepare_s,
                      .measure_s = 0,
                      .detail = nullptr};
  if (const auto team = owner.teams.find(device); team != owner.teams.end()) {
    sample.ends = ends_of(state.teams[team->second], step, owner.node);
  }
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
