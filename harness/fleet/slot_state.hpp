// The slot under way as the root knows it, and what is recorded of it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/fleet/hunt.hpp"
#include "harness/plan/gpu_seats.hpp"
#include "harness/plan/slots.hpp"
#include "harness/plan/teams.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::fleet {

// Who measures for a node.
struct Owner {
  int node = 0;
  std::optional<int> peer;  // of a pair
  std::size_t party = 0;
  double prepare_s = 0;
  std::vector<plan::OwnedGpu> gpus;  // of a step on GPUs: those that this rank measures
  // Where they measure with others, by label: in which team, and as which of its members.
  std::map<std::string, std::size_t> teams = {};
  std::map<std::string, std::size_t> members = {};
};

struct SlotState {
  plan::Slot slot;
  std::map<int, Owner> owners;    // by rank
  double start_s = 0;             // on the clock of the run
  std::set<std::size_t> broken;   // parties of a group probe that lost a member
  bool is_cut = false;            // by the end of the run's time
  std::vector<plan::Team> teams;  // of a step that joins workers
  std::vector<Hunt> hunts;        // of which some of the teams are parts
  // What is left of teams that failed, or parts of them, to be measured at once.
  std::vector<plan::Team> again;
  std::vector<Hunt> hunts_again;
  int attempt = 0;  // how often teams of it were measured before
  // A search still has to be ended where nobody is left to measure a part.
  bool is_nothing_left() const { return owners.empty() && hunts.empty(); }
  const plan::Party& party_of(const Owner& owner) const { return slot.parties[owner.party]; }
};

// By node, those of its GPUs that its ranks measure.
using FleetGpus = std::vector<std::vector<plan::OwnedGpu>>;

// The slot laid out: `nodes[i]` has index i, as `gpus` has. A step on GPUs is owned by every rank
// that owns one; where one process measures all of a node's, by the rank that owns the first.
SlotState open(const plan::Slot& slot, const plan::PlannedStep& step,
               const std::vector<NodeInfo>& nodes, const FleetGpus& gpus);

// The same for teams of a slot: each rank owns the GPUs of them that it measures.
SlotState open_teams(const plan::Slot& slot, const plan::PlannedStep& step,
                     std::vector<plan::Team> teams);

// By which devices a team's nodes took part, where that has to be said: by all of them else. Those
// of `node` come first in a link. More than 256 are not listed: of a rail the first two, by node,
// stand for it, and of other teams there is nothing.
std::vector<End> ends_of(const plan::Team& team, const plan::PlannedStep& step, int node);

// Who measures together, where a reader cannot know it: not each by itself, not two, not all of
// `nodes`.
plan::Party group_of(const SlotState& state, const Owner& owner, const plan::PlannedStep& step,
                     std::size_t nodes, const std::string& device = "");

// An agent's answer to "prepare" or "measure", or the part of one device of it, as it is recorded.
// An answer without the values that the step has is a failure.
SampleRecord sample_from(const Json& answer, const SlotState& state, const Owner& owner,
                         const plan::PlannedStep& step, std::size_t nodes);

}  // namespace fleetbench::fleet
