#include "harness/fleet/slot_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace fleetbench::fleet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Nodes of two GPUs each, owned by the rank of the node's number.
FleetGpus fleet_of(int nodes) {
  FleetGpus gpus;
  for (int node = 0; node < nodes; ++node) {
    gpus.push_back({{.label = "gpu0", .rank = node}, {.label = "gpu1", .rank = node}});
  }
  return gpus;
}

plan::PlannedStep step_across(Across across) {
  plan::PlannedStep step;
  step.runner = plan::Runner::gpu_workers;
  step.probe.joins_workers = true;
  step.probe.participants = Participants::group;
  step.across = across;
  return step;
}

// Of a group of so many nodes, the last one first.
SlotState state_of(int nodes, const plan::PlannedStep& step) {
  plan::Party party;
  for (int node = 0; node < nodes; ++node) {
    party.insert(party.begin(), node);
  }
  const plan::Slot slot{.parties = {party}};
  return open_teams(slot, step, plan::teams_of(slot, step, fleet_of(nodes)));
}

std::vector<End> ends_in_sample(const SlotState& state, const plan::PlannedStep& step, int node,
                                const char* device) {
  const Json failed{{"device", device}, {"status", "failed"}};
  return sample_from(failed, state, state.owners.at(node), step, state.owners.size()).ends;
}

TEST(EndsOfASample, AreAllOfARail) {
  const auto step = step_across(Across::rails);
  const SlotState state = state_of(3, step);
  EXPECT_THAT(ends_in_sample(state, step, 1, "gpu1"),
              ElementsAre(End{2, "gpu1"}, End{1, "gpu1"}, End{0, "gpu1"}));
}

TEST(EndsOfASample, AreTheFirstTwoOfALargeRailWhoseverItIs) {
  const auto step = step_across(Across::rails);
  const SlotState state = state_of(257, step);
  for (const int node : {0, 100, 256}) {
    EXPECT_THAT(ends_in_sample(state, step, node, "gpu1"),
                ElementsAre(End{0, "gpu1"}, End{1, "gpu1"}));
  }
}

TEST(EndsOfASample, AreThoseThatAreLeftOfATeam) {
  const auto step = step_across(Across::nodes);
  SlotState state = state_of(2, step);
  EXPECT_THAT(ends_in_sample(state, step, 0, "gpu1"), IsEmpty());
  state.teams[0].members.erase(state.teams[0].members.begin());
  state.teams[0].is_whole = false;
  EXPECT_THAT(ends_in_sample(state, step, 0, "gpu1"), SizeIs(3));
}

TEST(EndsOfASample, AreNotListedOfALargeTeamThatIsNoRail) {
  const auto step = step_across(Across::nodes);
  SlotState state = state_of(200, step);
  state.teams[0].members.erase(state.teams[0].members.begin());
  state.teams[0].is_whole = false;
  EXPECT_THAT(ends_in_sample(state, step, 0, "gpu1"), IsEmpty());
}

}  // namespace
}  // namespace fleetbench::fleet
