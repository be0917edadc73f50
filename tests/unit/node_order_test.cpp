#include "harness/report/node_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace fleetbench::report {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Order = std::vector<std::size_t>;

PairSpeeds speeds_of(std::size_t nodes, double noise,
                     const std::function<double(std::size_t from, std::size_t to)>& speed) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  PairSpeeds speeds(nodes, std::vector<std::optional<double>>(nodes));
  for (std::size_t from = 0; from < nodes; ++from) {
    for (std::size_t to = 0; to < nodes; ++to) {
      if (from != to) {
        speeds[from][to] = speed(from, to) * std::exp(noise * normal(random));
      }
    }
  }
  return speeds;
}

double all_alike(std::size_t, std::size_t) { return 1; }

bool is_permutation_of(const Order& order, std::size_t nodes) {
  Order sorted = order;
  std::ranges::sort(sorted);
  Order all;
  for (std::size_t i = 0; i < nodes; ++i) {
    all.push_back(i);
  }
  return sorted == all;
}

TEST(NodeOrder, OfNoneAndOneAndTwo) {
  EXPECT_THAT(order_by_likeness({}), IsEmpty());
  EXPECT_THAT(order_by_likeness(speeds_of(1, 0, all_alike)), ElementsAre(0));
  EXPECT_THAT(order_by_likeness(speeds_of(2, 0, all_alike)), ElementsAre(0, 1));
}

TEST(NodeOrder, OfAHealthyFleetIsThatOfTheNodes) {
  EXPECT_THAT(order_by_likeness(speeds_of(5, 0, all_alike)), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(order_by_likeness(speeds_of(5, 0.005, all_alike)), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_TRUE(is_permutation_of(order_by_likeness(speeds_of(32, 0.03, all_alike)), 32));
}

TEST(NodeOrder, WithinAGroupIsByAverage) {
  const auto order = order_by_likeness(
      speeds_of(4, 0, [](std::size_t from, std::size_t) { return 1 + 0.1 * double(from); }));
  EXPECT_THAT(order, ElementsAre(3, 2, 1, 0));
}

TEST(NodeOrder, PutsInterleavedBlocksSideBySide) {
  for (const std::size_t nodes : {6U, 16U, 32U}) {
    for (const double across : {0.8, 0.5, 0.1}) {
      const auto order = order_by_likeness(speeds_of(
          nodes, 0.02, [&](std::size_t a, std::size_t b) { return a % 2 == b % 2 ? 1 : across; }));
      for (std::size_t i = 0; i < nodes; ++i) {
        EXPECT_EQ(order[i] % 2, i < nodes / 2 ? 0 : 1) << nodes << " " << across;
      }
    }
  }
}

TEST(NodeOrder, PutsTheLargerBlockFirst) {
  const auto order = order_by_likeness(speeds_of(
      12, 0.02, [](std::size_t a, std::size_t b) { return (a < 4) == (b < 4) ? 1 : 0.6; }));
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_GE(order[i], 4U);
  }
}

TEST(NodeOrder, PutsABadNodeLast) {
  for (const std::size_t nodes : {4U, 8U, 32U}) {
    const auto both = [](std::size_t from, std::size_t to) {
      return from == 2 || to == 2 ? 0.7 : 1.0;
    };
    const auto sends = [](std::size_t from, std::size_t) { return from == 2 ? 0.7 : 1.0; };
    const auto receives = [](std::size_t, std::size_t to) { return to == 2 ? 0.7 : 1.0; };
    for (const auto& speed : {std::function<double(std::size_t, std::size_t)>(both),
                              std::function<double(std::size_t, std::size_t)>(sends),
                              std::function<double(std::size_t, std::size_t)>(receives)}) {
      EXPECT_EQ(order_by_likeness(speeds_of(nodes, 0.02, speed)).back(), 2U) << nodes;
    }
  }
}

TEST(NodeOrder, PutsABadNodeLastOfBlocksToo) {
  const auto order = order_by_likeness(speeds_of(16, 0.02, [](std::size_t a, std::size_t b) {
    return (a % 2 == b % 2 ? 1 : 0.5) * (a == 4 || b == 4 ? 0.3 : 1);
  }));
  EXPECT_EQ(order.back(), 4U);
  EXPECT_EQ(order.front() % 2, order[6] % 2);
}

TEST(NodeOrder, IsNotMovedByOneBadLink) {
  PairSpeeds speeds = speeds_of(8, 0, all_alike);
  speeds[1][2] = 0.2;
  const auto order = order_by_likeness(speeds);
  // By average within the one group: they are its last, and no group of their own.
  EXPECT_THAT(order, ElementsAre(0, 3, 4, 5, 6, 7, 1, 2));
}

TEST(NodeOrder, TakesWhatWasNotMeasured) {
  PairSpeeds speeds = speeds_of(6, 0, all_alike);
  for (std::size_t k = 0; k < 6; ++k) {
    speeds[0][k].reset();
    speeds[k][0].reset();
  }
  EXPECT_EQ(order_by_likeness(speeds).back(), 0U);
  const PairSpeeds none(4, std::vector<std::optional<double>>(4));
  EXPECT_THAT(order_by_likeness(none), ElementsAre(0, 1, 2, 3));
  PairSpeeds matchings = speeds_of(16, 0.02, all_alike);
  for (std::size_t a = 0; a < 16; ++a) {
    for (std::size_t b = 0; b < 16; ++b) {
      if ((a + b) % 4 != 1) {
        matchings[a][b].reset();
      }
    }
  }
  EXPECT_TRUE(is_permutation_of(order_by_likeness(matchings), 16));
}

}  // namespace
}  // namespace fleetbench::report
