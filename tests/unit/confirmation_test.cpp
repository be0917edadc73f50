#include "harness/plan/confirmation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace fleetbench::plan {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kSuspect = 2;
constexpr int kReference = 3;

PlannedStep planned(Participants participants, bool concurrent) {
  PlannedStep step;
  step.id = step.scenario.id = "probe";
  step.probe.participants = participants;
  step.concurrent = concurrent;
  return step;
}

// Every node took `seconds` for each slot.
RunData run_of(int nodes, double seconds = 1) {
  RunData run;
  for (int node = 0; node < nodes; ++node) {
    run.header.nodes.push_back(
        {.index = node, .name = "node" + std::to_string(node), .ranks = {node}});
    SampleRecord sample;
    sample.node = node;
    sample.prepare_s = seconds / 4;
    sample.measure_s = seconds * 3 / 4;
    run.samples.push_back(sample);
  }
  return run;
}

ConfirmRecord suspect(int node = kSuspect, int reference = kReference) {
  return {.pairs = 8, .compared = {{node, std::nullopt, "", reference, std::nullopt, "probe.x"}}};
}

ConfirmRecord link_suspect(Party link, Party reference) {
  return {.pairs = 8, .compared = {{link[0], link[1], "", reference[0], reference[1], "probe.x"}}};
}

ConfirmOptions with_partners(std::vector<int> partners, double limit_s = 60) {
  return {.limit_s = limit_s,
          .left_s = limit_s,
          .seed = 7,
          .first_slot = 100,
          .partners = std::move(partners)};
}

std::vector<Party> parties_of(const Confirmation& plan) {
  std::vector<Party> parties;
  for (const Slot& slot : plan.slots) {
    EXPECT_EQ(slot.parties.size(), 1U);
    parties.push_back(slot.parties.front());
  }
  return parties;
}

TEST(PlanConfirmation, OneNodeAtATimeTakesTurns) {
  const auto plan = plan_confirmation({planned(Participants::node, false)}, run_of(4), {suspect()},
                                      with_partners({0, 1, 3}));
  ASSERT_EQ(plan.slots.size(), 16U);
  const auto parties = parties_of(plan);
  for (std::size_t i = 0; i < 16; i += 4) {
    EXPECT_EQ(std::vector(parties.begin() + i, parties.begin() + i + 4),
              (std::vector<Party>{{kSuspect}, {kReference}, {kReference}, {kSuspect}}));
  }
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(plan.slots[i].index, 100 + i);
    EXPECT_EQ(plan.slots[i].pass, i / 2);
    EXPECT_EQ(plan.slots[i].confirms, 0);
  }
  ASSERT_EQ(plan.records.size(), 1U);
  EXPECT_EQ(plan.records[0].pairs, 8);
}

TEST(PlanConfirmation, WhatRanTogetherRunsAgainWithAll) {
  const auto plan =
      plan_confirmation({planned(Participants::node, true)}, run_of(5),
                        {suspect(), suspect(4, kReference)}, with_partners({0, 1, 3}));
  ASSERT_EQ(plan.slots.size(), 8U);
  for (const Slot& slot : plan.slots) {
    EXPECT_EQ(slot.parties.size(), 5U);
  }
  // Two suspects of one step share its slots.
  ASSERT_EQ(plan.records.size(), 1U);
  EXPECT_EQ(plan.records[0].compared.size(), 2U);
}

TEST(PlanConfirmation, OneDeviceAtATimeIsMeasuredSoAgain) {
  auto step = planned(Participants::node, true);
  step.one_device = true;
  auto gpu1 = suspect();
  gpu1.compared[0].device = "gpu1";
  auto gpu0 = suspect(4);
  gpu0.compared[0].device = "gpu0";
  auto options = with_partners({0, 1, 3});
  options.devices = {"gpu0", "gpu1"};
  const auto plan = plan_confirmation({step}, run_of(5), {gpu1, gpu0}, options);
  ASSERT_EQ(plan.records.size(), 2U);  // what is measured for one tells nothing of the other
  ASSERT_EQ(plan.slots.size(), 16U);
  EXPECT_EQ(plan.slots[0].device, "gpu1");
  EXPECT_EQ(plan.slots[8].device, "gpu0");
  // Of a node all take their turns.
  const auto whole = plan_confirmation({step}, run_of(5), {suspect()}, options);
  ASSERT_EQ(whole.slots.size(), 16U);
  EXPECT_EQ(whole.slots[0].device, "gpu0");
  EXPECT_EQ(whole.slots[1].device, "gpu1");
  EXPECT_EQ(whole.slots[1].pass, 0);
}

TEST(PlanConfirmation, GroupsMeasureAsTheyDid) {
  const auto plan = plan_confirmation({planned(Participants::group, true)}, run_of(5), {suspect()},
                                      with_partners({0, 1, 3, 4}));
  ASSERT_EQ(plan.slots.size(), 8U);
  EXPECT_EQ(plan.slots[0].parties, (std::vector<Party>{{0, 1, 2, 3, 4}}));
}

TEST(PlanConfirmation, PairsAtOnceHaveBothBesideSoundPartners) {
  const int bad = 5;
  const auto plan = plan_confirmation({planned(Participants::pair, true)}, run_of(8), {suspect()},
                                      with_partners({0, 1, 3, 4, 6, 7}));
  ASSERT_EQ(plan.slots.size(), 8U);
  for (const Slot& slot : plan.slots) {
    EXPECT_EQ(slot.parties.size(), 4U);  // all pairs of the round, for the load
    for (const Party& party : slot.parties) {
      const std::set<int> ends(party.begin(), party.end());
      const bool watched = ends.contains(kSuspect) || ends.contains(kReference);
      EXPECT_FALSE(watched && ends.contains(bad));
      EXPECT_NE(ends, (std::set<int>{kSuspect, kReference}));
    }
  }
}

TEST(PlanConfirmation, PairsInTurnsHaveTheSamePartner) {
  for (const bool concurrent : {false, true}) {  // four nodes with two suspects: no round will do
    const auto plan = plan_confirmation({planned(Participants::pair, concurrent)}, run_of(4),
                                        {suspect()}, with_partners({1, 3}));
    ASSERT_EQ(plan.slots.size(), 16U);
    const auto parties = parties_of(plan);
    EXPECT_EQ(parties[0], (Party{kSuspect, 1}));
    EXPECT_EQ(parties[1], (Party{kReference, 1}));
    EXPECT_EQ(parties[2], (Party{1, kReference}));
    EXPECT_EQ(parties[3], (Party{1, kSuspect}));
  }
}

TEST(PlanConfirmation, PairsNeedAPartner) {
  const auto plan = plan_confirmation({planned(Participants::pair, false)}, run_of(4), {suspect()},
                                      with_partners({kReference}));
  EXPECT_THAT(plan.slots, IsEmpty());
  EXPECT_EQ(plan.records.at(0).pairs, 0);
  EXPECT_THAT(plan.records[0].reason, HasSubstr("no sound node to measure pairs with"));
}

TEST(PlanConfirmation, LinksRunInTheirOwnRounds) {
  const auto alone = plan_confirmation({planned(Participants::pair, false)}, run_of(4),
                                       {link_suspect({0, 1}, {2, 3})}, with_partners({0, 1, 2, 3}));
  ASSERT_EQ(alone.slots.size(), 16U);
  EXPECT_EQ(parties_of(alone)[0], (Party{0, 1}));
  EXPECT_EQ(parties_of(alone)[1], (Party{2, 3}));
  EXPECT_EQ(parties_of(alone)[2], (Party{2, 3}));
  // 0-1 and 2-3 are one round of four nodes, 0-1 and 1-3 are in two.
  const auto at_once =
      plan_confirmation({planned(Participants::pair, true)}, run_of(4),
                        {link_suspect({0, 1}, {2, 3})}, with_partners({0, 1, 2, 3}));
  EXPECT_EQ(at_once.slots.size(), 8U);
  const auto two_rounds =
      plan_confirmation({planned(Participants::pair, true)}, run_of(4),
                        {link_suspect({0, 1}, {1, 3})}, with_partners({0, 1, 2, 3}));
  ASSERT_EQ(two_rounds.slots.size(), 16U);
  for (const Slot& slot : two_rounds.slots) {
    EXPECT_EQ(slot.parties.size(), 2U);
  }
}

TEST(PlanConfirmation, ALinkByItselfHasNothingBesideIt) {
  ConfirmRecord solo = link_suspect({0, 1}, {2, 3});
  solo.solo = true;
  const auto plan = plan_confirmation({planned(Participants::pair, true)}, run_of(8), {solo},
                                      with_partners({0, 1, 2, 3}));
  ASSERT_EQ(plan.slots.size(), 16U);
  const auto parties = parties_of(plan);
  EXPECT_EQ(parties[0], (Party{0, 1}));
  EXPECT_EQ(parties[1], (Party{2, 3}));
  EXPECT_TRUE(plan.records.at(0).solo);
}

TEST(PlanConfirmation, NodesInMatchingsMeetNewPartners) {
  const int nodes = 64;
  PlannedStep step = planned(Participants::pair, true);
  step.scenario.pairs = Pairs::matchings;
  step.scenario.matchings = 4;
  std::vector<int> sound(nodes);
  std::iota(sound.begin(), sound.end(), 0);
  std::erase(sound, kSuspect);
  const auto plan = plan_confirmation({step}, run_of(nodes), {suspect()}, with_partners(sound));
  ASSERT_EQ(plan.slots.size(), 8U);
  const auto partner_in = [](const std::vector<Party>& parties) {
    for (const Party& party : parties) {
      if (std::ranges::count(party, kSuspect) > 0) {
        return party[0] == kSuspect ? party[1] : party[0];
      }
    }
    return -1;
  };
  std::set<int> first;
  for (const auto& parties : rounds_of_step(step, 0, nodes, 0, 7)) {
    first.insert(partner_in(parties));
  }
  std::set<int> again;
  for (const Slot& slot : plan.slots) {
    again.insert(partner_in(slot.parties));
  }
  EXPECT_EQ(first.size(), 4U);
  EXPECT_EQ(again.size(), 4U);
  EXPECT_NE(first, again);
}

TEST(PlanConfirmation, TimeIsSpentInTheOrderOfSuspects) {
  const auto step = planned(Participants::node, false);
  // 16 slots of one second each.
  const auto plan = plan_confirmation({step}, run_of(6), {suspect(2), suspect(4), suspect(5)},
                                      with_partners({0, 1, 3}, 33));
  ASSERT_EQ(plan.records.size(), 3U);
  EXPECT_EQ(plan.slots.size(), 32U);
  EXPECT_EQ(plan.records[1].pairs, 8);
  EXPECT_EQ(plan.records[2].pairs, 0);
  EXPECT_EQ(plan.records[2].confirm, 2);
  EXPECT_THAT(plan.records[2].reason,
              HasSubstr("it would take 16 s, and of the limit of 33 s for all that is measured "
                        "again 1 s are left (--confirm-limit)"));
}

TEST(PlanConfirmation, WhatAllNodesShareIsNotLoadedAgain) {
  PlannedStep shared = planned(Participants::node, false);
  shared.scenario.params = {{"shared", true}};
  PlannedStep ramp = planned(Participants::node, true);
  ramp.ramp = RampLevel{"probe", 4};
  for (const PlannedStep& step : {shared, ramp}) {
    const auto plan = plan_confirmation({step}, run_of(4), {suspect()}, with_partners({0, 1, 3}));
    EXPECT_THAT(plan.slots, IsEmpty());
    EXPECT_THAT(plan.records.at(0).reason, HasSubstr("to do no harm"));
  }
}

TEST(PlanConfirmation, RecordsFollowThoseOfTheRun) {
  RunData run = run_of(4);
  run.confirmations.resize(2);
  const auto plan = plan_confirmation({planned(Participants::node, true)}, run, {suspect()},
                                      with_partners({0, 1, 3}));
  EXPECT_EQ(plan.records.at(0).confirm, 2);
  EXPECT_EQ(plan.slots.at(0).confirms, 2);
}

}  // namespace
}  // namespace fleetbench::plan
