#include "harness/plan/gpu_seats.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fleetbench::plan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

NodeInfo node(int index, std::vector<int> ranks) {
  return {.index = index, .name = fmt::format("n{}", index), .ranks = std::move(ranks)};
}

SeenGpu gpu(const std::string& node, int place) {
  return {fmt::format("GPU-{}{}", node, place), fmt::format("0000:{}0:00.0", place)};
}

// "gpu0 of rank 1"
std::vector<std::string> lines(const std::vector<OwnedGpu>& gpus) {
  std::vector<std::string> result;
  for (const auto& owned : gpus) {
    result.push_back(fmt::format("{} of rank {}", owned.label, owned.rank));
  }
  return result;
}

TEST(SeatGpus, OneRankMeasuresAllThatItSees) {
  const auto seats = seat_gpus({node(0, {0})}, {{0, {gpu("a", 2), gpu("a", 1)}}});
  EXPECT_THAT(lines(seats[0]), ElementsAre("gpu0 of rank 0", "gpu1 of rank 0"));
  EXPECT_EQ(seats[0][0].uuid, "GPU-a1");
}

TEST(SeatGpus, RanksThatSeeAllShareThem) {
  const std::vector<SeenGpu> all{gpu("a", 1), gpu("a", 2), gpu("a", 3), gpu("a", 4)};
  EXPECT_THAT(lines(seat_gpus({node(0, {0, 1})}, {{0, all}, {1, all}})[0]),
              ElementsAre("gpu0 of rank 0", "gpu1 of rank 1", "gpu2 of rank 0", "gpu3 of rank 1"));
}

TEST(SeatGpus, RanksThatSeeOneEachGiveTheSameGpus) {
  const auto seats = seat_gpus({node(0, {0, 1})}, {{0, {gpu("a", 2)}}, {1, {gpu("a", 1)}}});
  EXPECT_THAT(lines(seats[0]), ElementsAre("gpu0 of rank 1", "gpu1 of rank 0"));
}

TEST(SeatGpus, WhatFellOffTheBusLeavesAGap) {
  const auto seats = seat_gpus({node(0, {0}), node(1, {1}), node(2, {2})},
                               {{0, {gpu("a", 1), gpu("a", 2), gpu("a", 3)}},
                                {1, {gpu("b", 1), gpu("b", 3)}},
                                {2, {gpu("c", 1), gpu("c", 2), gpu("c", 3)}}});
  EXPECT_THAT(lines(seats[1]), ElementsAre("gpu0 of rank 1", "gpu2 of rank 1"));
}

TEST(SeatGpus, OtherMachinesCountForThemselves) {
  const auto seats = seat_gpus(
      {node(0, {0}), node(1, {1}), node(2, {2})},
      {{0, {gpu("a", 1), gpu("a", 2)}}, {1, {gpu("b", 7)}}, {2, {gpu("c", 1), gpu("c", 2)}}});
  EXPECT_THAT(lines(seats[1]), ElementsAre("gpu0 of rank 1"));
}

TEST(SeatGpus, WhoSeesNoneHasNone) {
  const auto seats =
      seat_gpus({node(0, {0}), node(1, {1}), node(2, {})}, {{0, {gpu("a", 1)}}, {1, {}}});
  EXPECT_EQ(seats.size(), 3U);
  EXPECT_THAT(seats[1], IsEmpty());
  EXPECT_THAT(seats[2], IsEmpty());
}

TEST(KeepLabels, AGpuIsCalledAsBeforeWhateverFellOffTheBusMeanwhile) {
  std::vector<OwnedGpu> gpus{{.label = "gpu0", .uuid = "a"},
                             {.label = "gpu1", .uuid = "c"},
                             {.label = "gpu2", .uuid = "new"}};
  keep_labels({{"a", "gpu0"}, {"b", "gpu1"}, {"c", "gpu2"}}, gpus);
  EXPECT_EQ(gpus[0].label, "gpu0");
  EXPECT_EQ(gpus[1].label, "gpu2");
  EXPECT_EQ(gpus[2].label, "gpu3");
}

TEST(LabelsOfGpus, AreThoseOfAllNodesInOrderOfNumber) {
  EXPECT_THAT(labels_of({{{.label = "gpu10"}, {.label = "gpu2"}}, {}, {{.label = "gpu2"}}}),
              ElementsAre("gpu2", "gpu10"));
}

TEST(DescribeGpus, CountsThem) {
  const auto seats = [](std::vector<int> counts) {
    std::vector<std::vector<OwnedGpu>> result;
    for (const int count : counts) {
      result.emplace_back(static_cast<std::size_t>(count));
    }
    return describe(result);
  };
  EXPECT_EQ(seats({8, 8}), "8 GPUs on each");
  EXPECT_EQ(seats({1}), "1 GPU on each");
  EXPECT_EQ(seats({8, 7}), "7 to 8 GPUs on each");
  EXPECT_EQ(seats({0, 0}), "");
  EXPECT_EQ(seats({}), "");
}

}  // namespace
}  // namespace fleetbench::plan
