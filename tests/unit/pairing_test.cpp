#include "harness/plan/pairing.hpp"

#include <gtest/gtest.h>

#include <set>

namespace fleetbench::plan {
namespace {

void expect_disjoint(const Round& round) {
  std::set<int> seen;
  for (const auto& [a, b] : round) {
    EXPECT_LT(a, b);
    EXPECT_TRUE(seen.insert(a).second) << a << " meets two partners in one round";
    EXPECT_TRUE(seen.insert(b).second) << b << " meets two partners in one round";
  }
}

class AllPairs : public testing::TestWithParam<int> {};

TEST_P(AllPairs, EveryPairMeetsExactlyOnceInDisjointRounds) {
  const int nodes = GetParam();
  const auto rounds = all_pairs(nodes);
  EXPECT_EQ(rounds.size(), nodes < 2 ? 0U : static_cast<std::size_t>(nodes - 1 + nodes % 2));
  std::multiset<Pair> met;
  for (const auto& round : rounds) {
    expect_disjoint(round);
    EXPECT_EQ(round.size(), static_cast<std::size_t>(nodes / 2));
    met.insert(round.begin(), round.end());
  }
  EXPECT_EQ(met.size(), static_cast<std::size_t>(nodes * (nodes - 1) / 2));
  EXPECT_EQ(std::set<Pair>(met.begin(), met.end()).size(), met.size());
}

INSTANTIATE_TEST_SUITE_P(Sizes, AllPairs, testing::Values(0, 1, 2, 3, 4, 5, 7, 8, 17, 64, 101));

TEST(Matchings, AreDisjointRoundsWithoutAPairTwice) {
  for (const int nodes : {5, 16, 33}) {
    const auto rounds = matchings(nodes, 4, 7);
    ASSERT_EQ(rounds.size(), 4U);
    std::set<Pair> met;
    for (const auto& round : rounds) {
      expect_disjoint(round);
      for (const auto& pair : round) {
        EXPECT_TRUE(met.insert(pair).second);
        EXPECT_LT(pair.second, nodes);
      }
    }
  }
}

TEST(Matchings, DependOnTheSeedAlone) {
  EXPECT_EQ(matchings(32, 3, 1), matchings(32, 3, 1));
  EXPECT_NE(matchings(32, 3, 1), matchings(32, 3, 2));
}

TEST(Matchings, AreAllPairsWhereThereAreNoMore) { EXPECT_EQ(matchings(4, 16, 1), all_pairs(4)); }

// All pairs of so many nodes would be 40 GB.
TEST(Matchings, TakeNoMoreThanTheirRounds) {
  const auto rounds = matchings(100'000, 2, 1);
  ASSERT_EQ(rounds.size(), 2U);
  EXPECT_EQ(rounds[0].size(), 50'000U);
  expect_disjoint(rounds[1]);
}

}  // namespace
}  // namespace fleetbench::plan
