#include <gtest/gtest.h>

#include <algorithm>

#include <cmath>

#include "harness/detect/pair_tables.hpp"
#include "harness/detect/pairs.hpp"

namespace fleetbench::detect {
namespace {

struct Fleet {
  int nodes = 0;
  std::map<int, double> sends;
  std::map<int, double> receives;
  std::map<std::pair<int, int>, double> links;
  bool slower_end_limits = false;

  double x(int from, int to) const {
    const auto value = [](const auto& map, const auto& key) {
      return map.contains(key) ? map.at(key) : 0.0;
    };
    const double a = value(sends, from);
    const double b = value(receives, to);
    return 5 + (slower_end_limits ? std::max(a, b) : a + b) + value(links, std::pair(from, to));
  }

  std::vector<PairValue> pairs(bool symmetric) const {
    std::vector<PairValue> result;
    for (int a = 0; a < nodes; ++a) {
      for (int b = symmetric ? a + 1 : 0; b < nodes; ++b) {
        if (a != b) {
          result.push_back({a, b, x(a, b)});
        }
      }
    }
    return result;
  }
};

TEST(FitPairs, TellsSendingFromReceiving) {
  const Fleet fleet{4, {{1, 2.3}}, {{2, 1.1}}, {}, false};
  const PairFit fit = fit_pairs(4, fleet.pairs(false), false);
  EXPECT_NEAR(fit.sends[1] - fit.sends[0], 2.3, 1e-6);
  EXPECT_NEAR(fit.receives[2] - fit.receives[0], 1.1, 1e-6);
  EXPECT_NEAR(fit.sends[2] - fit.sends[0], 0, 1e-6);
  EXPECT_NEAR(fit.expected(0, 3), 5, 1e-6);
  EXPECT_EQ(fit.parameters, 7);
}

TEST(FitPairs, ASingleSlowLinkMovesNoNode) {
  for (const int nodes : {4, 8}) {
    const Fleet fleet{nodes, {}, {}, {{{0, 3}, 1.6}}, false};
    const PairFit fit = fit_pairs(nodes, fleet.pairs(false), false);
    EXPECT_NEAR(fit.expected(0, 3), 5, 0.01);
    EXPECT_NEAR(fit.sends[0], 0, 0.01);
  }
}

// Four nodes, two of them slow: the median of three partners is then no guide.
TEST(FitPairs, TwoSlowNodesOfFourWhetherSlownessMultipliesOrTheSlowerEndLimits) {
  for (const bool limits : {false, true}) {
    for (const bool symmetric : {false, true}) {
      const std::map<int, double> slow{{1, 2.3}, {2, 1.1}};
      const Fleet fleet{4, slow, slow, {}, limits};
      const PairFit fit = fit_pairs(4, fleet.pairs(symmetric), symmetric);
      EXPECT_NEAR(fit.sends[1] - fit.sends[0], 2.3, 0.01) << limits << symmetric;
      EXPECT_NEAR(fit.sends[2] - fit.sends[0], 1.1, 0.01) << limits << symmetric;
      EXPECT_NEAR(fit.sends[3] - fit.sends[0], 0, 0.01) << limits << symmetric;
      EXPECT_LE(fleet.x(1, 2), fit.expected(1, 2) + 0.01);  // never slower than expected
    }
  }
}

// The sum of both would hide a link between them that is slow by itself.
TEST(FitPairs, WhereTwoSlowNodesMeetTakesTheFormThatFits) {
  for (const bool limits : {false, true}) {
    const std::map<int, double> slow{{1, 0.3}, {2, 0.2}};
    const Fleet fleet{16, slow, slow, {}, limits};
    const PairFit fit = fit_pairs(16, fleet.pairs(true), true);
    EXPECT_NEAR(fit.expected(1, 2), 5 + (limits ? 0.3 : 0.5), 0.01);
    EXPECT_NEAR(fit.expected(1, 3), 5.3, 0.01);
  }
}

TEST(FitPairs, SaysWhatCannotBeTold) {
  const Fleet three{3, {{1, 1}}, {}, {}, false};
  EXPECT_FALSE(fit_pairs(3, three.pairs(false), false).fitted_any());
  EXPECT_FALSE(fit_pairs(3, three.pairs(true), true).fitted_any());
  EXPECT_FALSE(fit_pairs(0, {}, false).fitted_any());

  std::vector<PairValue> apart = Fleet{4, {}, {}, {}, false}.pairs(true);
  for (PairValue pair : Fleet{4, {}, {}, {}, false}.pairs(true)) {
    apart.push_back({pair.from + 4, pair.to + 4, pair.x});
  }
  const PairFit fit = fit_pairs(8, apart, true);
  EXPECT_TRUE(fit.disconnected);
  EXPECT_FALSE(fit.fitted_any());
}

// Every ring is even: adding to one side what the other loses fits as well.
TEST(FitPairs, ABipartiteGraphOfSymmetricPairsTellsNothing) {
  std::vector<PairValue> pairs;
  for (int a = 0; a < 3; ++a) {
    for (int b = 3; b < 6; ++b) {
      pairs.push_back({a, b, 1});
    }
  }
  EXPECT_TRUE(fit_pairs(6, pairs, true).disconnected);
}

TEST(FitPairs, LeavesOutNodesWithTooFewPartners) {
  std::vector<PairValue> pairs = Fleet{5, {{1, 2}}, {{1, 2}}, {}, false}.pairs(true);
  pairs.push_back({0, 5, 9});  // node 5 met one partner
  const PairFit fit = fit_pairs(6, pairs, true);
  EXPECT_TRUE(fit.sends_fitted[4]);
  EXPECT_FALSE(fit.sends_fitted[5]);
  EXPECT_EQ(fit.sends[5], 0);
  EXPECT_NEAR(fit.sends[1], 2, 1e-6);
}

TEST(FitPairs, RandomMatchingsAreEnough) {
  // Circulant graph: each of 12 nodes meets 4 others.
  const Fleet fleet{12, {{7, 1.5}}, {{7, 1.5}}, {}, false};
  std::vector<PairValue> pairs;
  for (int a = 0; a < 12; ++a) {
    for (const int step : {1, 4}) {
      const int b = (a + step) % 12;
      pairs.push_back({std::min(a, b), std::max(a, b), fleet.x(std::min(a, b), std::max(a, b))});
    }
  }
  EXPECT_NEAR(fit_pairs(12, pairs, true).sends[7], 1.5, 1e-6);
}

Table link_table(const Fleet& fleet, bool symmetric) {
  Table table;
  table.step_id = "mpi_pairs";
  table.metric = "mpi_pairs.m";
  table.info.layer = Layer::network;
  table.info.better = Better::lower;
  table.info.subject = SubjectKind::link;
  table.info.symmetric = symmetric;
  table.role = Role::link;
  table.passes = {0, 1};
  for (const PairValue& pair : fleet.pairs(symmetric)) {
    Row row;
    row.node = pair.from;
    row.peer = pair.to;
    table.add_row(row);
    std::ranges::fill(table.values(table.rows.size() - 1), pair.x);
  }
  return table;
}

Names names(int count) {
  Names result;
  for (int i = 0; i < count; ++i) {
    result.nodes.push_back("n" + std::to_string(i));
  }
  return result;
}

PairTables derive(Table links, const Names& names) {
  return derive(std::move(links), names, Switches({}, names.nodes), 0.05);
}

TEST(PairTables, DeriveOneTableForEachDirection) {
  const Fleet fleet{4, {{1, 2.3}}, {}, {}, false};
  const PairTables tables = derive(link_table(fleet, false), names(4));
  ASSERT_EQ(tables.nodes.size(), 2U);
  EXPECT_EQ(tables.nodes[0].metric, "mpi_pairs.m sending");
  EXPECT_EQ(tables.nodes[1].metric, "mpi_pairs.m receiving");
  EXPECT_EQ(tables.nodes[0].fitted, 0);
  EXPECT_NEAR(tables.nodes[0].values(1)[0], 7.3, 1e-6);
  EXPECT_TRUE(tables.notes.empty());
  EXPECT_EQ(derive(link_table(fleet, true), names(4)).nodes[0].metric, "mpi_pairs.m");
}

TEST(PairTables, AmongThreeNodesTheBestPairIsTheReference) {
  const Fleet fleet{3, {{1, 2.3}}, {{1, 2.3}}, {}, false};
  const PairTables tables = derive(link_table(fleet, true), names(3));
  EXPECT_TRUE(tables.nodes.empty());
  EXPECT_TRUE(tables.links.fixed_reference);
  EXPECT_NEAR(tables.links.rows[0].reference, 5, 1e-9);
  ASSERT_EQ(tables.notes.size(), 1U);
  EXPECT_EQ(tables.notes[0], "mpi_pairs: with 3 nodes a slow node cannot be told from slow links");
}

TEST(PairTables, TwoNodesAndNoneAreLeftAlone) {
  EXPECT_TRUE(derive(link_table(Fleet{2, {}, {}, {}, false}, false), names(2)).notes.empty());
  EXPECT_TRUE(derive(link_table(Fleet{0, {}, {}, {}, false}, false), names(0)).nodes.empty());
}

}  // namespace
}  // namespace fleetbench::detect
