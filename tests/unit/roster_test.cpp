#include "harness/plan/roster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fleetbench::plan {
namespace {

using testing::ElementsAre;

TEST(Roster, RanksOfOneHostAreOneNodeLedByItsLowestRank) {
  const auto nodes =
      make_nodes({{0, "a", "1"}, {1, "b", "2"}, {2, "a", "1"}, {3, "b", "2"}}, NodesBy::host);
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0].name, "a");
  EXPECT_THAT(nodes[0].ranks, ElementsAre(0, 2));
  EXPECT_EQ(nodes[1].name, "b");
  EXPECT_EQ(nodes[1].leader(), 1);
}

TEST(Roster, HostsThatShareANameButNotABootStayApart) {
  const auto nodes = make_nodes(
      {{0, "localhost", "1"}, {1, "localhost", "2"}, {2, "localhost", "1"}}, NodesBy::host);
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0].name, "localhost");
  EXPECT_EQ(nodes[1].name, "localhost#2");
  EXPECT_THAT(nodes[0].ranks, ElementsAre(0, 2));
}

TEST(Roster, ByRankEachRankIsANode) {
  const auto nodes = make_nodes({{0, "a", "1"}, {1, "a", "1"}}, NodesBy::rank);
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0].name, "a:0");
  EXPECT_EQ(nodes[1].name, "a:1");
}

TEST(Roster, ASilentRankIsANodeOfItsOwn) {
  const auto nodes =
      make_nodes({{0, "a", "1"}, {1, "", "", false}, {2, "", "", false}}, NodesBy::host);
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(nodes[1].name, name_of_silent_rank(1));
  EXPECT_EQ(nodes[2].name, name_of_silent_rank(2));
}

TEST(Roster, SaysWhatItFoundInOneLine) {
  std::vector<RankInfo> ranks;
  for (int rank = 0; rank < 64; ++rank) {
    ranks.push_back({rank, "node" + std::to_string(rank / 8), "boot"});
  }
  EXPECT_EQ(describe(make_nodes(ranks, NodesBy::host)), "64 ranks on 8 nodes, 8 on each");
  ranks.pop_back();
  EXPECT_EQ(describe(make_nodes(ranks, NodesBy::host)), "63 ranks on 8 nodes, 7 to 8 on each");
  EXPECT_EQ(describe(make_nodes({{0, "a", "1"}}, NodesBy::host)), "1 rank on 1 node");
}

}  // namespace
}  // namespace fleetbench::plan
