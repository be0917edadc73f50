#include "harness/plan/slots.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "results-schema/check.hpp"

namespace fleetbench::plan {
namespace {

ScenarioStep step(const char* id, Schedule schedule = Schedule::together) {
  ScenarioStep result;
  result.id = id;
  result.probe = id;
  result.schedule = schedule;
  return result;
}

ProbeChoice probe(const char* name, Participants participants) {
  ProbeChoice choice;
  choice.info.name = name;
  choice.info.participants = participants;
  return choice;
}

Scenario scenario(std::vector<ScenarioStep> steps, int passes = 3) {
  return {.name = "test", .description = "", .passes = passes, .steps = std::move(steps)};
}

std::vector<PlannedStep> node_steps(Schedule schedule, ScheduleOverride override_with,
                                    bool ranks_are_nodes = false) {
  return plan_steps(scenario({step("cpu", schedule)}), {probe("cpu", Participants::node)},
                    override_with, ranks_are_nodes);
}

TEST(PlanSteps, SchedulesAreTheStepsUnlessOverridden) {
  EXPECT_TRUE(node_steps(Schedule::together, ScheduleOverride::none)[0].concurrent);
  EXPECT_FALSE(node_steps(Schedule::alone, ScheduleOverride::none)[0].concurrent);
  EXPECT_FALSE(node_steps(Schedule::together, ScheduleOverride::alone)[0].concurrent);
  EXPECT_TRUE(node_steps(Schedule::alone, ScheduleOverride::together)[0].concurrent);
}

TEST(PlanSteps, WhatAllNodesShareIsNeverLoadedByAllAtOnce) {
  ScenarioStep shared = step("storage", Schedule::alone);
  shared.params = {{"shared", true}};
  const auto alone = plan_steps(scenario({shared}), {probe("storage", Participants::node)},
                                ScheduleOverride::together, false);
  EXPECT_FALSE(alone[0].concurrent);
  shared.schedule = Schedule::ramp;
  const auto ramp = plan_steps(scenario({shared}), {probe("storage", Participants::node)},
                               ScheduleOverride::together, false);
  EXPECT_TRUE(ramp[0].ramp.has_value());
}

TEST(PlanSteps, BothIsTwoSteps) {
  const auto steps = node_steps(Schedule::both, ScheduleOverride::none);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].id, "cpu");
  EXPECT_TRUE(steps[0].concurrent);
  EXPECT_EQ(steps[1].id, "cpu@alone");
  EXPECT_FALSE(steps[1].concurrent);
  EXPECT_EQ(node_steps(Schedule::both, ScheduleOverride::alone).size(), 1U);
}

TEST(PlanSteps, RanksThatAreNodesShareAMachineAndSoMeasureAlone) {
  const auto steps = node_steps(Schedule::together, ScheduleOverride::none, true);
  EXPECT_FALSE(steps[0].concurrent);
  EXPECT_FALSE(steps[0].sampled);
  EXPECT_TRUE(node_steps(Schedule::together, ScheduleOverride::together, true)[0].concurrent);
  const auto pairs = plan_steps(scenario({step("pairs")}), {probe("pairs", Participants::pair)},
                                ScheduleOverride::none, true);
  EXPECT_TRUE(pairs[0].concurrent);
}

std::vector<PlannedStep> gpu_steps(Devices devices) {
  ScenarioStep on_gpus = step("copy");
  on_gpus.devices = devices;
  ProbeChoice choice = probe("copy", Participants::node);
  choice.runner = Runner::gpu_workers;
  return plan_steps(scenario({on_gpus}, 1), {choice}, ScheduleOverride::none, false);
}

std::vector<std::string> texts_of(const std::vector<PlannedStep>& steps) {
  std::vector<std::string> texts;
  for (const auto& slot : make_slots(steps, 4, 1, {"gpu0", "gpu1"})) {
    EXPECT_EQ(slot.parties.size(), 4U);
    texts.push_back(describe(slot, steps[static_cast<std::size_t>(slot.step)]));
  }
  return texts;
}

TEST(MakeSlots, DevicesAreMeasuredAllAtOnceOrOneOfEachNodeAtATime) {
  EXPECT_THAT(texts_of(gpu_steps(Devices::all)), testing::ElementsAre("copy, pass 1 of 1"));
  EXPECT_THAT(texts_of(gpu_steps(Devices::one)),
              testing::ElementsAre("copy on gpu0, pass 1 of 1", "copy on gpu1, pass 1 of 1"));
  EXPECT_THAT(texts_of(gpu_steps(Devices::both)),
              testing::ElementsAre("copy, pass 1 of 1", "copy@one on gpu0, pass 1 of 1",
                                   "copy@one on gpu1, pass 1 of 1"));
}

TEST(MakeSlots, PassesAreOutsideStepsInside) {
  const auto steps = plan_steps(scenario({step("a"), step("b")}),
                                {probe("a", Participants::node), probe("b", Participants::node)},
                                ScheduleOverride::none, false);
  std::vector<std::pair<int, int>> order;
  for (const auto& slot : make_slots(steps, 4, 1)) {
    EXPECT_EQ(slot.index, static_cast<int>(order.size()));
    EXPECT_EQ(slot.parties.size(), 4U);
    order.emplace_back(slot.pass, slot.step);
  }
  EXPECT_THAT(order, testing::ElementsAre(std::pair(0, 0), std::pair(0, 1), std::pair(1, 0),
                                          std::pair(1, 1), std::pair(2, 0), std::pair(2, 1)));
}

TEST(MakeSlots, AloneMeasuresEachNodeInASlotOfItsOwn) {
  const auto slots = make_slots(node_steps(Schedule::alone, ScheduleOverride::none), 5, 1);
  EXPECT_EQ(slots.size(), 5U * 3);
  std::set<int> first_pass;
  for (std::size_t i = 0; i < 5; ++i) {
    ASSERT_EQ(slots[i].parties.size(), 1U);
    first_pass.insert(slots[i].parties[0][0]);
  }
  EXPECT_EQ(first_pass.size(), 5U);
}

TEST(MakeSlots, MoreThanCanBePlannedIsAnErrorThatSaysHowMuchCanBe) {
  const auto error_of = [](const std::vector<PlannedStep>& steps, int nodes) -> std::string {
    try {
      make_slots(steps, nodes, 1);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  const auto many = plan_steps(scenario({step("a")}, 100'000), {probe("a", Participants::node)},
                               ScheduleOverride::none, false);
  EXPECT_EQ(error_of(many, 10'000),
            "passes: all of them over 10000 nodes are 1000000000 single measurements, of which "
            "50000000 can be planned; give --passes 5000 at most");
  const auto wide = plan_steps(scenario({step("a"), step("b")}, 1),
                               {probe("a", Participants::pair), probe("b", Participants::pair)},
                               ScheduleOverride::none, false);
  EXPECT_EQ(
      error_of(wide, 100'000),
      "steps: one pass over 100000 nodes is 20000000000 single measurements, of which 50000000 "
      "can be planned; say \"pairs\": \"matchings\", or leave steps out");
}

std::set<int> nodes_of(const std::vector<Slot>& slots) {
  std::set<int> nodes;
  for (const auto& slot : slots) {
    for (const auto& party : slot.parties) {
      nodes.insert(party.begin(), party.end());
    }
  }
  return nodes;
}

TEST(MakeSlots, ALargeFleetAloneIsSampledByItsScenarioAndMeasuredWholeWhenAsked) {
  const auto sampled = make_slots(node_steps(Schedule::alone, ScheduleOverride::none), 40, 3);
  EXPECT_EQ(sampled.size(), 3U * kAloneSample);
  EXPECT_EQ(nodes_of(sampled).size(), static_cast<std::size_t>(kAloneSample));
  const auto whole = make_slots(node_steps(Schedule::alone, ScheduleOverride::alone), 40, 3);
  EXPECT_EQ(nodes_of(whole).size(), 40U);
  const auto by_rank = make_slots(node_steps(Schedule::alone, ScheduleOverride::none, true), 40, 3);
  EXPECT_EQ(nodes_of(by_rank).size(), 40U);
}

std::set<std::pair<int, int>> ordered_pairs(const std::vector<Slot>& slots, int pass) {
  std::set<std::pair<int, int>> pairs;
  for (const auto& slot : slots) {
    for (const auto& party : slot.parties) {
      if (slot.pass == pass) {
        pairs.emplace(party[0], party[1]);
      }
    }
  }
  return pairs;
}

TEST(MakeSlots, PairsMeetInEveryPassWithTheOtherEndFirst) {
  const auto steps = plan_steps(scenario({step("pairs")}), {probe("pairs", Participants::pair)},
                                ScheduleOverride::none, false);
  const auto slots = make_slots(steps, 6, 1);
  EXPECT_EQ(slots.size(), 3U * 5);
  const auto first = ordered_pairs(slots, 0);
  const auto second = ordered_pairs(slots, 1);
  EXPECT_EQ(first.size(), 15U);
  for (const auto& [a, b] : first) {
    EXPECT_TRUE(second.contains({b, a}));
  }
}

TEST(MakeSlots, PairsAloneMeetOneAtATime) {
  const auto steps = plan_steps(scenario({step("pairs")}, 1), {probe("pairs", Participants::pair)},
                                ScheduleOverride::alone, false);
  const auto slots = make_slots(steps, 6, 1);
  EXPECT_EQ(slots.size(), 15U);
  for (const auto& slot : slots) {
    EXPECT_EQ(slot.parties.size(), 1U);
  }
}

TEST(MakeSlots, AGroupIsEverybodyAndNeedsTwo) {
  const auto steps = plan_steps(scenario({step("all")}, 1), {probe("all", Participants::group)},
                                ScheduleOverride::alone, false);
  const auto slots = make_slots(steps, 4, 1);
  ASSERT_EQ(slots.size(), 1U);
  EXPECT_THAT(slots[0].parties[0], testing::ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(make_slots(steps, 1, 1).empty());
}

std::vector<PlannedStep> grouped_steps(ScheduleOverride schedule, int passes = 2) {
  auto groups = step("groups");
  groups.groups = Groups{.size = 4, .rounds = 3};
  return plan_steps(scenario({groups}, passes), {probe("groups", Participants::group)}, schedule,
                    true);
}

TEST(MakeSlots, GroupsOfARoundMeasureTogetherAndAreTheSameInEveryPass) {
  const auto slots = make_slots(grouped_steps(ScheduleOverride::none), 9, 5);
  ASSERT_EQ(slots.size(), 2U * 3);
  std::set<std::vector<Party>> in_pass[2];
  for (const auto& slot : slots) {
    EXPECT_EQ(slot.parties.size(), 2U);
    EXPECT_EQ(nodes_of({slot}).size(), 9U);
    in_pass[slot.pass].insert(slot.parties);
  }
  EXPECT_EQ(in_pass[0].size(), 3U);
  EXPECT_EQ(in_pass[0], in_pass[1]);
}

TEST(MakeSlots, GroupsAloneMeasureOneAtATime) {
  const auto slots = make_slots(grouped_steps(ScheduleOverride::alone, 1), 12, 5);
  EXPECT_EQ(slots.size(), 3U * 3);
  for (const auto& slot : slots) {
    EXPECT_EQ(slot.parties.size(), 1U);
  }
}

TEST(MakeSlots, AStepWithoutSlotsHasAReason) {
  const auto grouped = grouped_steps(ScheduleOverride::none)[0];
  const auto fleet_wide = plan_steps(scenario({step("all")}), {probe("all", Participants::group)},
                                     ScheduleOverride::none, false)[0];
  const auto alone = node_steps(Schedule::alone, ScheduleOverride::none)[0];
  for (int nodes = 1; nodes < 6; ++nodes) {
    for (const auto& planned : {grouped, fleet_wide, alone}) {
      EXPECT_EQ(make_slots({planned}, nodes, 1).empty(),
                reason_without_slots(planned, nodes).has_value())
          << planned.id << " on " << nodes;
    }
  }
  EXPECT_EQ(reason_without_slots(grouped, 3), "3 nodes cannot be split into groups, it takes 4");
  EXPECT_EQ(reason_without_slots(fleet_wide, 1), "it takes 2 nodes, there is 1");
}

TEST(MakeSlots, DependOnTheSeedAlone) {
  const auto steps = node_steps(Schedule::alone, ScheduleOverride::none);
  const auto parties = [&](std::uint64_t seed) {
    std::vector<std::vector<Party>> result;
    for (const auto& slot : make_slots(steps, 12, seed)) {
      result.push_back(slot.parties);
    }
    return result;
  };
  EXPECT_EQ(parties(5), parties(5));
  EXPECT_NE(parties(5), parties(6));
}

TEST(Without, LeavesOutWhoIsGoneAndWhoNeedsThem) {
  const Slot slot{.parties = {{0, 1}, {2, 3}}};
  const std::vector<bool> gone{false, true, false, false};
  EXPECT_THAT(without(slot, gone, Participants::pair).parties, testing::ElementsAre(Party{2, 3}));
  EXPECT_THAT(without({.parties = {{0, 1, 2, 3}}}, gone, Participants::group).parties,
              testing::ElementsAre(Party{0, 2, 3}));
  EXPECT_TRUE(without({.parties = {{0, 1}}}, gone, Participants::group).parties.empty());
  EXPECT_THAT(without({.parties = {{0}, {1}, {2}}}, gone, Participants::node).parties,
              testing::ElementsAre(Party{0}, Party{2}));
}

TEST(PlanSteps, AStepMayHaveFewerPassesAndFactsHaveOne) {
  auto seldom = step("seldom");
  seldom.passes = 2;
  auto facts = probe("facts", Participants::node);
  facts.info.facts_only = true;
  const auto steps =
      plan_steps(scenario({seldom, step("facts")}, 5), {probe("seldom", Participants::node), facts},
                 ScheduleOverride::alone, false);
  EXPECT_EQ(steps[0].passes, 2);
  EXPECT_EQ(steps[1].passes, 1);
  EXPECT_TRUE(steps[1].concurrent);
}

}  // namespace
}  // namespace fleetbench::plan
