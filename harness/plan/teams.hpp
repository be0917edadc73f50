// Which GPUs of a slot measure with each other: each team's workers form one communicator.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/plan/gpu_seats.hpp"
#include "harness/plan/slots.hpp"

namespace fleetbench::plan {

struct Member {
  int node = 0;
  OwnedGpu gpu;
};

bool is_among(const Member& member, const std::vector<Member>& members);

struct Team {
  std::size_t party = 0;        // of the slot; members are on its nodes
  std::vector<Member> members;  // node by node: the communicator's ranks
  bool is_whole = true;         // all GPUs of all its nodes are in it
  // It is part of one that failed, measured to find who is to blame: which of them.
  std::optional<std::size_t> hunt = {};
};

// Of a step that joins workers (ProbeInfo::joins_workers); `gpus`: by node. Nodes without the GPU
// that is asked for are not in it; teams that are too small to measure are left out.
std::vector<Team> teams_of(const Slot& slot, const PlannedStep& step,
                           const std::vector<std::vector<OwnedGpu>>& gpus);

// Two GPUs at least, and two nodes where the step is across nodes and not just a hunt.
bool is_large_enough(const Team& team, const PlannedStep& step);

// In the order of their first members.
Party nodes_of(const Team& team);

// Labels of its members, by node as nodes_of() has them; one entry where they are the same on all.
std::vector<std::vector<std::string>> labels_of(const Team& team);

// "gpu3" where all members are called so, else empty.
std::string rail_of(const Team& team);

// Why no GPUs of this fleet can form a team; nothing where some can.
std::optional<std::string> reason_without_teams(const PlannedStep& step,
                                                const std::vector<std::vector<OwnedGpu>>& gpus);

}  // namespace fleetbench::plan
