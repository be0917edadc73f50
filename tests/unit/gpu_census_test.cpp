#include "harness/cli/gpu_census.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fleetbench::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

NodeInfo node(int index, const std::string& name, std::vector<int> ranks) {
  return {.index = index, .name = name, .ranks = std::move(ranks)};
}

Json gpu(const std::string& uuid, const std::string& address) {
  return {{"uuid", uuid}, {"address", address}, {"model", "H"}};
}

Json answer(Json gpus, Json on_pci) {
  return {{"driver", "580"}, {"gpus", std::move(gpus)}, {"on_pci", std::move(on_pci)}};
}

const Json kNone = Json::array();

TEST(TakeCensus, RanksThatSeeOneEachAreOneNode) {
  const auto census =
      take_census({node(0, "a", {0, 1})}, {{0, answer({gpu("u2", "0000:2b:00.0")}, kNone)},
                                           {1, answer({gpu("u1", "0000:1b:00.0")}, kNone)}});
  EXPECT_TRUE(census.any);
  EXPECT_THAT(census.notes, IsEmpty());
  ASSERT_EQ(census.facts[0].at("gpus").size(), 2U);
  EXPECT_EQ(census.facts[0].at("gpus")[0].at("uuid"), "u1");
  EXPECT_EQ(census.facts[0].at("driver"), "580");
  EXPECT_EQ(census.gpus[0].size(), 2U);
}

TEST(TakeCensus, NobodyHasOne) {
  const auto census = take_census({node(0, "a", {0}), node(1, "b", {1})},
                                  {{0, answer(kNone, kNone)}, {1, answer(kNone, kNone)}});
  EXPECT_FALSE(census.any);
  EXPECT_THAT(census.notes, IsEmpty());
}

TEST(TakeCensus, WhatThePciTreeShowsAndCudaDoesNotIsSaid) {
  auto silent = answer(kNone, {"0000:1b:00.0", "0000:2b:00.0"});
  silent["reason"] = "no driver";
  const auto census = take_census(
      {node(0, "a", {0}), node(1, "b", {1})},
      {{0, silent}, {1, answer({gpu("u", "0000:1b:00.0")}, {"0000:1b:00.0", "0000:2b:00.0"})}});
  EXPECT_TRUE(census.any);
  EXPECT_THAT(census.notes,
              ElementsAre("a: the PCI tree shows 2 GPUs, CUDA none: no driver",
                          "b: the PCI tree shows 2 GPUs, CUDA 1: CUDA does not say why"));
}

TEST(TakeCensus, GpusAreCalledAsTheirSamplesAre) {
  const Json addresses{"0000:1b:00.0", "0000:2b:00.0"};
  const auto census =
      take_census({node(0, "a", {0}), node(1, "b", {1}), node(2, "c", {2})},
                  {{0, answer({gpu("a1", addresses[0]), gpu("a2", addresses[1])}, addresses)},
                   {1, answer({gpu("b1", addresses[0]), gpu("b2", addresses[1])}, addresses)},
                   {2, answer({gpu("c2", addresses[1])}, addresses)}});
  EXPECT_EQ(census.facts[0].at("gpus")[0].at("label"), "gpu0");
  EXPECT_EQ(census.facts[2].at("gpus")[0].at("label"), "gpu1");
  EXPECT_EQ(census.facts[2].at("lacks"), "CUDA does not say why");
}

Json let_see(Json answer, int gpus, const char* by) {
  answer["let_see"] = gpus;
  answer["let_see_by"] = by;
  return answer;
}

TEST(TakeCensus, WhatALauncherHidesIsMeantToBe) {
  const Json addresses{"0000:1b:00.0", "0000:2b:00.0", "0000:3b:00.0"};
  const auto census = take_census(
      {node(0, "a", {0, 1})},
      {{0, let_see(answer({gpu("u1", addresses[0])}, addresses), 1, "CUDA_VISIBLE_DEVICES=0")},
       {1, let_see(answer({gpu("u2", addresses[1])}, addresses), 1, "CUDA_VISIBLE_DEVICES=1")}});
  EXPECT_EQ(census.facts[0].at("hidden_by"), "CUDA_VISIBLE_DEVICES=0 and others");
  EXPECT_FALSE(census.facts[0].contains("lacks"));
  EXPECT_FALSE(census.facts[0].contains("let_see"));
  EXPECT_THAT(census.notes,
              ElementsAre("a: the PCI tree shows 3 GPUs, CUDA 2: the others are "
                          "hidden from this run (CUDA_VISIBLE_DEVICES=0 and others)"));
}

TEST(TakeCensus, WhoSeesLessThanItIsLetSeeLacksSome) {
  const Json addresses{"0000:1b:00.0", "0000:2b:00.0", "0000:3b:00.0"};
  const auto census = take_census(
      {node(0, "a", {0, 1})},
      {{0, let_see(answer({gpu("u1", addresses[0])}, addresses), 1, "CUDA_VISIBLE_DEVICES=0")},
       {1, let_see(answer({gpu("u2", addresses[1])}, addresses), 2, "CUDA_VISIBLE_DEVICES=1,2")}});
  EXPECT_EQ(census.facts[0].at("lacks"), "CUDA_VISIBLE_DEVICES=1,2, of these 2 CUDA shows 1");
  EXPECT_FALSE(census.facts[0].contains("hidden_by"));
  auto blind = let_see(answer(kNone, addresses), 3, "CUDA_VISIBLE_DEVICES=0,1,2");
  blind["reason"] = "no driver";
  const auto without = take_census({node(0, "a", {0})}, {{0, blind}});
  EXPECT_EQ(without.facts[0].at("lacks"),
            "CUDA_VISIBLE_DEVICES=0,1,2, of these 3 CUDA shows 0: no driver");
}

TEST(TakeCensus, WhoCannotSayMayHaveSome) {
  const auto census = take_census({node(0, "a", {0}), node(1, "b", {})},
                                  {{0, {{"reason", "the worker exited with code 127"}}}});
  EXPECT_TRUE(census.any);
  EXPECT_THAT(census.notes,
              ElementsAre("a: does not say what GPUs it has: the worker exited with code 127"));
  EXPECT_TRUE(census.facts[1].is_null()) << "nobody of it was asked";
}

TEST(TakeCensus, WhatCannotBeReadIsSaid) {
  for (const Json& odd :
       {Json(7), Json{{"gpus", 7}}, Json{{"gpus", {7}}}, Json{{"gpus", {{{"uuid", 7}}}}},
        Json{{"gpus", Json::array()}, {"on_pci", 7}}, Json{{"let_see", "all"}},
        Json{{"reason", 7}}}) {
    const auto census = take_census({node(0, "a", {0})}, {{0, odd}});
    EXPECT_TRUE(census.any) << odd;
    EXPECT_THAT(census.notes,
                ElementsAre("a: does not say what GPUs it has: what its GPU worker says "
                            "cannot be read"));
  }
}

TEST(TakeCensus, GpusOfARunThatGoesOnKeepTheirLabels) {
  auto before = node(0, "a", {});
  before.inventory["cuda"] = {{"gpus",
                               {{{"uuid", "u0"}, {"address", "0000:1b:00.0"}, {"label", "gpu0"}},
                                {{"uuid", "u1"}, {"address", "0000:2b:00.0"}, {"label", "gpu1"}}}}};
  const auto census = take_census(
      {node(0, "a", {0})}, {{0, answer({gpu("u1", "0000:2b:00.0")}, {"0000:2b:00.0"})}}, {before});
  ASSERT_EQ(census.gpus[0].size(), 1U);
  EXPECT_EQ(census.gpus[0][0].label, "gpu1");
}

}  // namespace
}  // namespace fleetbench::cli
