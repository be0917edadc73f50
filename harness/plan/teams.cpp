#include "harness/plan/teams.hpp"

#include <algorithm>
#include <set>

namespace fleetbench::plan {
namespace {

using FleetGpus = std::vector<std::vector<OwnedGpu>>;

const std::vector<OwnedGpu>& gpus_of(const FleetGpus& gpus, int node) {
  return gpus[static_cast<std::size_t>(node)];
}

void add_member(Team& team, const FleetGpus& gpus, int node, const std::string& label) {
  const auto& own = gpus_of(gpus, node);
  const auto found = std::ranges::find(own, label, &OwnedGpu::label);
  if (found != own.end()) {
    team.members.push_back({node, *found});
  }
}

Team whole_team(const Party& party, const FleetGpus& gpus) {
  Team team;
  for (const int node : party) {
    for (const OwnedGpu& gpu : gpus_of(gpus, node)) {
      team.members.push_back({node, gpu});
    }
  }
  return team;
}

Team rail(const Party& party, const std::string& label, const FleetGpus& gpus) {
  Team team;
  for (const int node : party) {
    add_member(team, gpus, node, label);
  }
  return team;
}

Team across_rails(const Party& party, const Slot& slot, const FleetGpus& gpus) {
  Team team;
  add_member(team, gpus, party[0], slot.device);
  add_member(team, gpus, party[1], slot.peer_device);
  return team;
}

// Only of those nodes: a fleet has thousands of pairs.
std::vector<std::string> labels_on(const Party& party, const FleetGpus& gpus) {
  FleetGpus own;
  for (const int node : party) {
    own.push_back(gpus_of(gpus, node));
  }
  return labels_of(own);
}

std::vector<Team> teams_of_party(const Party& party, const Slot& slot, const PlannedStep& step,
                                 const FleetGpus& gpus) {
  if (step.across != Across::rails) {
    return {whole_team(party, gpus)};
  }
  if (!slot.peer_device.empty()) {
    return {across_rails(party, slot, gpus)};
  }
  std::vector<Team> teams;
  for (const std::string& label : labels_on(party, gpus)) {
    if (slot.device.empty() || slot.device == label) {
      teams.push_back(rail(party, label, gpus));
    }
  }
  return teams;
}

std::size_t gpus_on(const Party& party, const FleetGpus& gpus) {
  std::size_t count = 0;
  for (const int node : party) {
    count += gpus_of(gpus, node).size();
  }
  return count;
}

}  // namespace

std::vector<Team> teams_of(const Slot& slot, const PlannedStep& step, const FleetGpus& gpus) {
  std::vector<Team> teams;
  for (std::size_t i = 0; i < slot.parties.size(); ++i) {
    const Party& party = slot.parties[i];
    for (Team& team : teams_of_party(party, slot, step, gpus)) {
      team.party = i;
      team.is_whole = team.members.size() == gpus_on(party, gpus);
      if (is_large_enough(team, step)) {
        teams.push_back(std::move(team));
      }
    }
  }
  return teams;
}

bool is_among(const Member& member, const std::vector<Member>& members) {
  return std::ranges::any_of(members, [&member](const Member& other) {
    return other.node == member.node && other.gpu.label == member.gpu.label;
  });
}

bool is_large_enough(const Team& team, const PlannedStep& step) {
  const std::size_t fewest_nodes = step.across == Across::node || team.hunt ? 1 : 2;
  return team.members.size() >= 2 && nodes_of(team).size() >= fewest_nodes;
}

Party nodes_of(const Team& team) {
  Party nodes;
  for (const Member& member : team.members) {
    if (nodes.empty() || nodes.back() != member.node) {
      nodes.push_back(member.node);
    }
  }
  return nodes;
}

std::vector<std::vector<std::string>> labels_of(const Team& team) {
  std::vector<std::vector<std::string>> labels;
  int node = -1;
  for (const Member& member : team.members) {
    if (labels.empty() || member.node != node) {
      labels.emplace_back();
      node = member.node;
    }
    labels.back().push_back(member.gpu.label);
  }
  const bool same =
      std::ranges::all_of(labels, [&](const auto& of_node) { return of_node == labels.front(); });
  labels.resize(same ? std::min<std::size_t>(labels.size(), 1) : labels.size());
  return labels;
}

std::string rail_of(const Team& team) {
  const bool same = std::ranges::all_of(team.members, [&team](const Member& member) {
    return member.gpu.label == team.members.front().gpu.label;
  });
  return same && !team.members.empty() ? team.members.front().gpu.label : "";
}

std::optional<std::string> reason_without_teams(const PlannedStep& step, const FleetGpus& gpus) {
  std::set<std::string> seen;
  std::size_t nodes = 0;
  std::size_t most = 0;
  bool has_rail = false;
  for (const auto& own : gpus) {
    nodes += own.empty() ? 0 : 1;
    most = std::max(most, own.size());
    for (const OwnedGpu& gpu : own) {
      has_rail = !seen.insert(gpu.label).second || has_rail;
    }
  }
  if (step.across == Across::node) {
    return most >= 2 ? std::nullopt
                     : std::optional("it takes two GPUs of a node, none has as many");
  }
  if (nodes < 2) {
    return "it takes two nodes with GPUs";
  }
  return step.across == Across::rails && !has_rail
             ? std::optional("no two nodes have a GPU in the same place")
             : std::nullopt;
}

}  // namespace fleetbench::plan
