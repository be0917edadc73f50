#include "harness/plan/resume.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "harness/plan/teams.hpp"

namespace fleetbench::plan {
namespace {

// Of what a sample is. A node that measures in several groups in one pass has one in each of their
// slots; else the slot does not matter, for a group is measured again, in a slot of another number,
// when it loses a member.
using Occasion = std::tuple<int, int, int, int, std::string>;  // pass, node, peer, slot, device

Occasion occasion(const PlannedStep& step, int pass, int node, int peer, int slot,
                  const std::string& device) {
  return {pass, node, peer, step.scenario.groups ? slot : -1, device};
}

// Two nodes may meet by many pairs of their devices.
std::string by_which(const std::string& device, const std::string& peer_device) {
  return device + " - " + peer_device;
}

class Measured {
 public:
  Measured(const std::vector<PlannedStep>& steps, const RunData& run) : steps_(steps) {
    for (const auto& sample : run.samples) {
      if (!sample.confirms) {
        add(sample);
      }
    }
  }

  bool has(const Slot& slot, int node, int peer, const std::string& device = "") const {
    const auto& step = steps_[static_cast<std::size_t>(slot.step)];
    return by_step_.contains(slot.step) && by_step_.at(slot.step).contains(occasion(
                                               step, slot.pass, node, peer, slot.index, device));
  }

 private:
  void add(const SampleRecord& sample) {
    const auto& step = steps_.at(static_cast<std::size_t>(sample.step));
    const bool is_link = sample.peer && sample.ends.size() == 2 && step.across == Across::rails;
    const std::string device =
        is_link ? by_which(sample.ends[0].device, sample.ends[1].device) : sample.device;
    by_step_[sample.step].insert(
        occasion(step, sample.pass, sample.node, sample.peer.value_or(-1), sample.slot, device));
  }

  const std::vector<PlannedStep>& steps_;
  std::map<int, std::set<Occasion>> by_step_;
};

bool is_measured(const Slot& slot, const Party& party, const Measured& measured,
                 Participants participants, const std::vector<NodeInfo>& nodes) {
  return std::ranges::all_of(party, [&](int node) {
    const bool takes_part = !nodes[static_cast<std::size_t>(node)].ranks.empty();
    const int peer = participants != Participants::pair ? -1
                     : party[0] == node                 ? party[1]
                                                        : party[0];
    return !takes_part || measured.has(slot, node, peer);
  });
}

bool are_gpus_measured(const Slot& slot, const Party& party, const Measured& measured,
                       const std::vector<std::vector<OwnedGpu>>& gpus) {
  return std::ranges::all_of(party, [&](int node) {
    return std::ranges::all_of(gpus[static_cast<std::size_t>(node)], [&](const OwnedGpu& gpu) {
      const bool takes_part = slot.device.empty() || slot.device == gpu.label;
      return !takes_part || measured.has(slot, node, -1, gpu.label);
    });
  });
}

// Samples of a team are recorded at once, or of those to blame for its failure.
bool is_team_measured(const Slot& slot, const Team& team, const PlannedStep& step,
                      const Measured& measured) {
  const bool is_pair = step.probe.participants == Participants::pair;
  return std::ranges::any_of(team.members, [&](const Member& member) {
    const Member& other =
        &member == &team.members.front() ? team.members.back() : team.members.front();
    const std::string device = is_pair && step.across == Across::rails
                                   ? by_which(member.gpu.label, other.gpu.label)
                                   : member.gpu.label;
    return measured.has(slot, member.node, is_pair ? other.node : -1, device);
  });
}

// `of_party`: the slot, with no other parties.
bool are_teams_measured(const Slot& of_party, const PlannedStep& step, const Measured& measured,
                        const std::vector<std::vector<OwnedGpu>>& gpus) {
  return std::ranges::all_of(teams_of(of_party, step, gpus), [&](const Team& team) {
    return is_team_measured(of_party, team, step, measured);
  });
}

}  // namespace

MatchedNodes match_nodes(const std::vector<NodeInfo>& before, const std::vector<NodeInfo>& now) {
  std::map<std::string, const NodeInfo*> by_name;
  for (const auto& node : now) {
    by_name[node.name] = &node;
  }
  MatchedNodes matched{before, {}};
  for (auto& node : matched.nodes) {
    const auto found = by_name.find(node.name);
    node.ranks = found != by_name.end() ? found->second->ranks : std::vector<int>();
    node.boot_id = found != by_name.end() ? found->second->boot_id : node.boot_id;
    by_name.erase(node.name);
  }
  for (const auto& [name, node] : by_name) {
    matched.strangers.push_back(name);
  }
  return matched;
}

void add_absent(std::vector<NodeInfo>& nodes, const std::vector<std::string>& hosts) {
  for (const auto& host : hosts) {
    if (std::ranges::none_of(nodes, [&](const auto& node) { return node.name == host; })) {
      nodes.push_back({.index = static_cast<int>(nodes.size()),
                       .name = host,
                       .boot_id = "",
                       .ranks = {},
                       .inventory = nullptr,
                       .cohort = ""});
    }
  }
}

std::vector<Slot> missing_slots(std::vector<Slot> slots, const std::vector<PlannedStep>& steps,
                                const RunData& run, const std::vector<NodeInfo>& nodes,
                                const std::vector<std::vector<OwnedGpu>>& gpus) {
  const Measured measured(steps, run);
  for (auto& slot : slots) {
    const auto& step = steps[static_cast<std::size_t>(slot.step)];
    Slot of_party = slot;
    std::erase_if(slot.parties, [&, &slot = std::as_const(slot)](const Party& party) {
      if (step.probe.joins_workers) {
        of_party.parties = {party};
        return are_teams_measured(of_party, step, measured, gpus);
      }
      return step.runner == Runner::gpu_workers
                 ? are_gpus_measured(slot, party, measured, gpus)
                 : is_measured(slot, party, measured, step.probe.participants, nodes);
    });
  }
  std::erase_if(slots, [](const Slot& slot) { return slot.parties.empty(); });
  return slots;
}

}  // namespace fleetbench::plan
