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
  EXPECT_THAT(census.notes, ElementsAre("a: the PCI tree shows 2 GPUs, CUDA none: no driver",
                                        "b: the PCI tree shows 2 GPUs, CUDA 1"));
}

TEST(TakeCensus, WhoCannotSayMayHaveSome) {
  const auto census = take_census({node(0, "a", {0}), node(1, "b", {})},
                                  {{0, {{"reason", "the worker exited with code 127"}}}});
  EXPECT_TRUE(census.any);
  EXPECT_THAT(census.notes,
              ElementsAre("a: does not say what GPUs it has: the worker exited with code 127"));
  EXPECT_TRUE(census.facts[1].is_null()) << "nobody of it was asked";
}

}  // namespace
}  // namespace fleetbench::cli
