#include "harness/plan/teams.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace fleetbench::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// So many GPUs on each node, all owned by the rank of its number.
std::vector<std::vector<OwnedGpu>> fleet(const std::vector<int>& counts) {
  std::vector<std::vector<OwnedGpu>> gpus(counts.size());
  for (std::size_t node = 0; node < counts.size(); ++node) {
    for (int i = 0; i < counts[node]; ++i) {
      gpus[node].push_back({.label = "gpu" + std::to_string(i), .rank = static_cast<int>(node)});
    }
  }
  return gpus;
}

PlannedStep step_of(Participants participants, Across across) {
  PlannedStep step;
  step.probe.participants = participants;
  step.probe.joins_workers = true;
  step.across = across;
  return step;
}

Slot slot_of(std::vector<Party> parties, std::string device = "", std::string peer_device = "") {
  return {.parties = std::move(parties),
          .device = std::move(device),
          .peer_device = std::move(peer_device)};
}

std::string text_of(const Team& team) {
  std::string text;
  for (const Member& member : team.members) {
    text +=
        (text.empty() ? "" : " ") + std::to_string(member.node) + ":" + member.gpu.label.substr(3);
  }
  return text;
}

std::vector<std::string> texts_of(const std::vector<Team>& teams) {
  std::vector<std::string> texts;
  for (const Team& team : teams) {
    texts.push_back(text_of(team));
  }
  return texts;
}

std::vector<std::string> teams(Across across, const Slot& slot, const std::vector<int>& counts,
                               Participants participants = Participants::group) {
  return texts_of(teams_of(slot, step_of(participants, across), fleet(counts)));
}

TEST(Teams, OfGroups) {
  const Slot all = slot_of({{0, 1, 2}});
  EXPECT_THAT(teams(Across::nodes, all, {2, 2, 2}), ElementsAre("0:0 0:1 1:0 1:1 2:0 2:1"));
  EXPECT_THAT(teams(Across::rails, all, {2, 2, 2}), ElementsAre("0:0 1:0 2:0", "0:1 1:1 2:1"));
  EXPECT_THAT(teams(Across::rails, slot_of({{0, 1, 2}}, "gpu1"), {2, 2, 2}),
              ElementsAre("0:1 1:1 2:1"));
  EXPECT_THAT(teams(Across::node, slot_of({{0}, {1}, {2}}), {2, 1, 3}, Participants::node),
              ElementsAre("0:0 0:1", "2:0 2:1 2:2"));
}

TEST(Teams, OfPairs) {
  EXPECT_THAT(teams(Across::rails, slot_of({{0, 2}, {3, 1}}), {2, 2, 2, 2}, Participants::pair),
              ElementsAre("0:0 2:0", "0:1 2:1", "3:0 1:0", "3:1 1:1"));
  EXPECT_THAT(teams(Across::nodes, slot_of({{1, 0}}), {2, 2}, Participants::pair),
              ElementsAre("1:0 1:1 0:0 0:1"));
  EXPECT_THAT(teams(Across::rails, slot_of({{1, 0}}, "gpu0", "gpu1"), {2, 2}, Participants::pair),
              ElementsAre("1:0 0:1"));
}

TEST(Teams, WithoutWhoLacksTheGpu) {
  EXPECT_THAT(teams(Across::rails, slot_of({{0, 1, 2}}), {2, 1, 2}),
              ElementsAre("0:0 1:0 2:0", "0:1 2:1"));
  EXPECT_THAT(teams(Across::rails, slot_of({{0, 1}}), {2, 1}, Participants::pair),
              ElementsAre("0:0 1:0"));
  EXPECT_THAT(teams(Across::nodes, slot_of({{0, 1, 2}}), {2, 0, 0}), IsEmpty());
  EXPECT_THAT(teams(Across::rails, slot_of({{0, 1}}, "gpu0", "gpu1"), {2, 1}, Participants::pair),
              IsEmpty());
}

TEST(Teams, AreWholeWithAllGpusOfTheirNodes) {
  const auto whole = [](Across across, const Slot& slot) {
    return teams_of(slot, step_of(Participants::group, across), fleet({2, 2})).front().is_whole;
  };
  EXPECT_TRUE(whole(Across::nodes, slot_of({{0, 1}})));
  EXPECT_FALSE(whole(Across::rails, slot_of({{0, 1}})));
}

TEST(Teams, SayTheirRailAndTheirLabelsOnce) {
  const auto gpus = fleet({2, 2, 1});
  const auto step = step_of(Participants::group, Across::nodes);
  const auto even = teams_of(slot_of({{1, 0}}), step, gpus).front();
  EXPECT_THAT(nodes_of(even), ElementsAre(1, 0));
  EXPECT_THAT(labels_of(even), ElementsAre(ElementsAre("gpu0", "gpu1")));
  EXPECT_EQ(rail_of(even), "");
  const auto uneven = teams_of(slot_of({{0, 2}}), step, gpus).front();
  EXPECT_THAT(labels_of(uneven), ElementsAre(ElementsAre("gpu0", "gpu1"), ElementsAre("gpu0")));
  const auto rails = teams_of(slot_of({{0, 1}}), step_of(Participants::group, Across::rails), gpus);
  EXPECT_EQ(rail_of(rails[1]), "gpu1");
}

TEST(Teams, AFleetThatHasNoneHasAReason) {
  const auto reason = [](Across across, const std::vector<int>& counts) {
    return reason_without_teams(step_of(Participants::group, across), fleet(counts)).value_or("");
  };
  EXPECT_EQ(reason(Across::node, {1, 2}), "");
  EXPECT_THAT(reason(Across::node, {1, 1}), HasSubstr("two GPUs of a node"));
  EXPECT_EQ(reason(Across::nodes, {1, 1}), "");
  EXPECT_THAT(reason(Across::nodes, {0, 8}), HasSubstr("two nodes with GPUs"));
  EXPECT_EQ(reason(Across::rails, {1, 8}), "");
}

// A step across rails in a scenario, planned.
PlannedStep planned(Participants participants, std::optional<Across> across, Devices devices,
                    int cross_rails = 0) {
  ScenarioStep step;
  step.id = "nccl";
  step.across = across;
  step.devices = devices;
  step.cross_rails = cross_rails;
  ProbeChoice choice;
  choice.info.participants = participants;
  choice.info.joins_workers = true;
  choice.runner = Runner::gpu_workers;
  return plan_steps({.name = "s", .description = "", .passes = 2, .steps = {step}}, {choice},
                    ScheduleOverride::none, false)
      .front();
}

TEST(PlanOfTeams, PairsAreAcrossRailsUnlessSaidGroupsAcrossNodes) {
  EXPECT_EQ(planned(Participants::pair, std::nullopt, Devices::all).across, Across::rails);
  EXPECT_EQ(planned(Participants::group, std::nullopt, Devices::all).across, Across::nodes);
}

TEST(PlanOfTeams, WithinANodeEachIsMeasuredByItself) {
  const auto step = planned(Participants::group, Across::node, Devices::all);
  EXPECT_EQ(step.probe.participants, Participants::node);
  const auto slots = make_slots({step}, 3, 1, {"gpu0", "gpu1"});
  ASSERT_THAT(slots, SizeIs(2));
  EXPECT_THAT(slots[0].parties, SizeIs(3));
}

TEST(PlanOfTeams, RailsMeetAllAtOnceOrOneAfterTheOther) {
  EXPECT_THAT(make_slots({planned(Participants::group, Across::rails, Devices::all)}, 4, 1,
                         {"gpu0", "gpu1"}),
              SizeIs(2));
  const auto one = make_slots({planned(Participants::group, Across::rails, Devices::one)}, 4, 1,
                              {"gpu0", "gpu1"});
  ASSERT_THAT(one, SizeIs(4));
  EXPECT_EQ(one[0].device + one[1].device, "gpu0gpu1");
}

TEST(PlanOfTeams, CrossRailRoundsAreTheSameInEveryPassWithTheOtherEndFirst) {
  const auto step = planned(Participants::pair, std::nullopt, Devices::all, 4);
  const auto slots = make_slots({step}, 4, 1, {"gpu0", "gpu1", "gpu2"});
  std::vector<std::set<std::string>> by_pass(2);
  for (const Slot& slot : slots) {
    EXPECT_EQ(slot.device.empty(), slot.peer_device.empty());
    EXPECT_TRUE(slot.device.empty() || slot.device != slot.peer_device);
    for (const Party& party : slot.parties) {
      const bool turned = slot.pass == 1;
      const auto end = [&](int i) {
        return std::to_string(party[static_cast<std::size_t>(i)]) +
               (i == 0 ? slot.device : slot.peer_device);
      };
      by_pass[static_cast<std::size_t>(slot.pass)].insert(end(turned ? 1 : 0) + " " +
                                                          end(turned ? 0 : 1));
    }
  }
  EXPECT_EQ(by_pass[0], by_pass[1]);
  EXPECT_THAT(slots, SizeIs(2 * (3 + 4)));
}

TEST(PlanOfTeams, WhatIsDrawnDependsOnTheSeedAlone) {
  const auto step = planned(Participants::pair, std::nullopt, Devices::all, 8);
  const auto devices = [&](std::uint64_t seed) {
    std::string text;
    for (const Slot& slot : make_slots({step}, 6, seed, {"gpu0", "gpu1", "gpu2"})) {
      text += slot.device + "-" + slot.peer_device + " ";
    }
    return text;
  };
  EXPECT_EQ(devices(1), devices(1));
  EXPECT_NE(devices(1), devices(2));
}

}  // namespace
}  // namespace fleetbench::plan
