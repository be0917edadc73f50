#include "harness/plan/resume.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fleetbench::plan {
namespace {

using testing::ElementsAre;

NodeInfo node(int index, const char* name, std::vector<int> ranks) {
  return {.index = index,
          .name = name,
          .boot_id = "b",
          .ranks = std::move(ranks),
          .inventory = nullptr,
          .cohort = ""};
}

std::vector<NodeInfo> three_nodes() {
  return {node(0, "a", {0}), node(1, "b", {1}), node(2, "c", {2})};
}

PlannedStep step(Participants participants) {
  PlannedStep result;
  result.id = "x";
  result.probe.participants = participants;
  result.passes = 2;
  return result;
}

SampleRecord sample(int slot, int pass, int node, std::optional<int> peer = std::nullopt) {
  SampleRecord record;
  record.slot = slot;
  record.pass = pass;
  record.node = node;
  record.peer = peer;
  return record;
}

Slot slot(int index, int pass, std::vector<Party> parties) {
  return {.index = index, .step = 0, .pass = pass, .parties = std::move(parties)};
}

TEST(MatchNodes, KeepsTheirOrderAndTakesTheirNewRanks) {
  const auto matched =
      match_nodes(three_nodes(), {node(0, "c", {0}), node(1, "new", {1}), node(2, "a", {2, 3})});
  ASSERT_EQ(matched.nodes.size(), 3U);
  EXPECT_THAT(matched.nodes[0].ranks, ElementsAre(2, 3));
  EXPECT_TRUE(matched.nodes[1].ranks.empty());
  EXPECT_THAT(matched.nodes[2].ranks, ElementsAre(0));
  EXPECT_EQ(matched.nodes[2].index, 2);
  EXPECT_THAT(matched.strangers, ElementsAre("new"));
}

TEST(AddAbsent, HostsThatCameUpAreThereAlready) {
  auto nodes = three_nodes();
  add_absent(nodes, {"b", "d"});
  ASSERT_EQ(nodes.size(), 4U);
  EXPECT_EQ(nodes[3].name, "d");
  EXPECT_EQ(nodes[3].index, 3);
  EXPECT_TRUE(nodes[3].ranks.empty());
}

TEST(MissingSlots, WhatWasMeasuredIsLeftOutGoodOrBad) {
  RunData run;
  run.samples = {sample(0, 0, 0), sample(0, 0, 1), sample(0, 0, 2), sample(1, 1, 1)};
  run.samples[1].status = Status::failed;
  const auto missing = missing_slots({slot(0, 0, {{0}, {1}, {2}}), slot(1, 1, {{0}, {1}, {2}})},
                                     {step(Participants::node)}, run, three_nodes(), {});
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing[0].index, 1);
  EXPECT_THAT(missing[0].parties, ElementsAre(ElementsAre(0), ElementsAre(2)));
}

TEST(MissingSlots, APairNeedsBothEnds) {
  RunData run;
  run.samples = {sample(0, 0, 0, 1), sample(0, 0, 1, 0), sample(1, 0, 0, 2)};
  const auto missing = missing_slots({slot(0, 0, {{0, 1}}), slot(1, 0, {{0, 2}})},
                                     {step(Participants::pair)}, run, three_nodes(), {});
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing[0].index, 1);
}

TEST(MissingSlots, AGroupThatLostAMemberIsNotMissingWithoutIt) {
  RunData run;
  run.samples = {sample(1003000, 0, 0), sample(1003000, 0, 1)};
  auto nodes = three_nodes();
  const std::vector<Slot> slots{slot(0, 0, {{0, 1, 2}})};
  EXPECT_EQ(missing_slots(slots, {step(Participants::group)}, run, nodes, {}).size(), 1U);
  nodes[2].ranks.clear();
  EXPECT_TRUE(missing_slots(slots, {step(Participants::group)}, run, nodes, {}).empty());
}

TEST(MissingSlots, GroupsOfOnePassAreToldApart) {
  RunData run;
  run.samples = {sample(0, 0, 0), sample(0, 0, 1), sample(0, 0, 2)};
  auto grouped = step(Participants::group);
  grouped.scenario.groups = Groups{};
  const auto missing = missing_slots({slot(0, 0, {{0, 1, 2}}), slot(1, 0, {{0, 1, 2}})}, {grouped},
                                     run, three_nodes(), {});
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing[0].index, 1);
}

TEST(MissingSlots, WhatWasMeasuredAgainConfirmsAndFillsNoGap) {
  RunData run;
  run.samples = {sample(7, 0, 0)};
  run.samples[0].confirms = 0;
  EXPECT_EQ(
      missing_slots({slot(0, 0, {{0}})}, {step(Participants::node)}, run, three_nodes(), {}).size(),
      1U);
}

TEST(MissingSlots, EveryGpuOfANodeCounts) {
  PlannedStep on_gpus = step(Participants::node);
  on_gpus.runner = Runner::gpu_workers;
  RunData run;
  for (const char* device : {"gpu0", "gpu1"}) {
    run.samples.push_back(sample(0, 0, 0));
    run.samples.back().device = device;
  }
  run.samples.push_back(sample(0, 0, 1));
  run.samples.back().device = "gpu0";
  const std::vector<OwnedGpu> two{{.label = "gpu0"}, {.label = "gpu1"}};
  const auto missing =
      missing_slots({slot(0, 0, {{0}, {1}, {2}})}, {on_gpus}, run, three_nodes(), {two, two, {}});
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_THAT(missing[0].parties, ElementsAre(ElementsAre(1)));
}

// gpu0 and gpu1 of nodes 0 and 1 meet on their rails, then across them.
TEST(MissingSlots, OfPairsOfGpusEachRailCountsAndEachWayAcrossThem) {
  PlannedStep pairs = step(Participants::pair);
  pairs.runner = Runner::gpu_workers;
  pairs.probe.joins_workers = true;
  pairs.across = Across::rails;
  const std::vector<OwnedGpu> two{{.label = "gpu0"}, {.label = "gpu1"}};
  RunData run;
  const auto add = [&](int node, const char* device, const char* peer_device) {
    run.samples.push_back(sample(0, 0, node, 1 - node));
    run.samples.back().device = device;
    run.samples.back().ends = {{node, device}, {1 - node, peer_device}};
  };
  std::vector<Slot> slots{slot(0, 0, {{0, 1}}), slot(1, 0, {{0, 1}})};
  slots[1].device = "gpu0";
  slots[1].peer_device = "gpu1";
  const auto missing = [&] {
    return missing_slots(slots, {pairs}, run, three_nodes(), {two, two, {}}).size();
  };
  EXPECT_EQ(missing(), 2U);
  add(0, "gpu0", "gpu0");
  EXPECT_EQ(missing(), 2U);
  add(1, "gpu1", "gpu1");  // of a link that failed one end may have a sample
  EXPECT_EQ(missing(), 1U);
  add(0, "gpu0", "gpu1");
  EXPECT_EQ(missing(), 0U);
}

TEST(MissingSlots, OfPairsOfNodesWithAllTheirGpusAnyOfThemCounts) {
  PlannedStep pairs = step(Participants::pair);
  pairs.runner = Runner::gpu_workers;
  pairs.probe.joins_workers = true;
  pairs.across = Across::nodes;
  const std::vector<OwnedGpu> one{{.label = "gpu0"}};
  const std::vector<OwnedGpu> two{{.label = "gpu0"}, {.label = "gpu1"}};
  for (const auto& gpus : {one, two}) {
    RunData run;
    const auto missing = [&] {
      return missing_slots({slot(0, 0, {{0, 1}})}, {pairs}, run, three_nodes(), {gpus, gpus, {}})
          .size();
    };
    EXPECT_EQ(missing(), 1U);
    run.samples.push_back(sample(0, 0, 0, 1));
    run.samples.back().device = "gpu0";
    EXPECT_EQ(missing(), 0U);
  }
}

TEST(MissingSlots, OfASlotForOneGpuOnlyThatCounts) {
  PlannedStep on_gpus = step(Participants::node);
  on_gpus.runner = Runner::gpu_workers;
  RunData run;
  run.samples = {sample(0, 0, 0)};
  run.samples[0].device = "gpu0";
  std::vector<Slot> slots{slot(0, 0, {{0}}), slot(1, 0, {{0}})};
  slots[0].device = "gpu0";
  slots[1].device = "gpu1";
  const std::vector<OwnedGpu> two{{.label = "gpu0"}, {.label = "gpu1"}};
  const auto missing = missing_slots(slots, {on_gpus}, run, three_nodes(), {two, {}, {}});
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing[0].device, "gpu1");
}

}  // namespace
}  // namespace fleetbench::plan
