#include "harness/plan/grouping.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace fleetbench::plan {
namespace {

std::vector<int> sizes_of(const std::vector<Group>& groups) {
  std::vector<int> sizes;
  for (const auto& group : groups) {
    sizes.push_back(static_cast<int>(group.size()));
  }
  return sizes;
}

TEST(ShuffledGroups, AreAsManyAsFitAndAsEqualAsTheyCanBe) {
  struct Case {
    int nodes;
    int size;
    std::vector<int> sizes;
  };
  const Case cases[] = {{64, 8, {8, 8, 8, 8, 8, 8, 8, 8}},
                        {16, 8, {8, 8}},
                        {17, 8, {9, 8}},
                        {20, 8, {7, 7, 6}},
                        {9, 8, {5, 4}},
                        {8, 8, {4, 4}},
                        {5, 8, {3, 2}},
                        {4, 8, {2, 2}},
                        {7, 2, {3, 2, 2}},
                        {6, 4096, {3, 3}}};
  for (const auto& c : cases) {
    EXPECT_EQ(sizes_of(shuffled_groups(c.nodes, c.size, 1, 1)[0]), c.sizes)
        << c.nodes << " nodes in groups of " << c.size;
  }
}

TEST(ShuffledGroups, HoldEveryNodeOnceAndKeepToTheirSizes) {
  for (int nodes = kFewestToGroup; nodes <= 70; ++nodes) {
    for (int size = 2; size <= 20; ++size) {
      for (const auto& round : shuffled_groups(nodes, size, 3, 9)) {
        ASSERT_GE(round.size(), 2U);
        std::set<int> seen;
        for (const auto& group : round) {
          seen.insert(group.begin(), group.end());
          const int members = static_cast<int>(group.size());
          ASSERT_GE(members, 2);
          ASSERT_TRUE(nodes < size || members >= size / 2) << nodes << " by " << size;
          ASSERT_LE(2 * members, 3 * size + 1) << nodes << " by " << size;
        }
        const auto sizes = sizes_of(round);
        ASSERT_LE(std::ranges::max(sizes) - std::ranges::min(sizes), 1);
        ASSERT_EQ(seen.size(), static_cast<std::size_t>(nodes));
        ASSERT_EQ(*seen.rbegin(), nodes - 1);
      }
    }
  }
}

TEST(ShuffledGroups, AreOtherOnesInEachRoundAndForEachSeed) {
  const auto rounds = shuffled_groups(32, 8, 4, 7);
  ASSERT_EQ(rounds.size(), 4U);
  EXPECT_EQ(std::set<std::vector<Group>>(rounds.begin(), rounds.end()).size(), 4U);
  EXPECT_EQ(shuffled_groups(32, 8, 4, 7), rounds);
  EXPECT_NE(shuffled_groups(32, 8, 4, 8), rounds);
}

TEST(ShuffledGroups, AFleetThatCannotBeSplitHasNone) {
  for (const int nodes : {0, 1, 2, 3}) {
    EXPECT_TRUE(shuffled_groups(nodes, 2, 5, 1).empty());
  }
}

}  // namespace
}  // namespace fleetbench::plan
