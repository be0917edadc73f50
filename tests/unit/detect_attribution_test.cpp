// Whom pairs and groups name: on simulated ones with fixed seeds. How often that is right,
// `detection_bench --only pairs` tells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "harness/detect/blocks.hpp"
#include "harness/detect/cover.hpp"
#include "harness/detect/detect.hpp"
#include "harness/detect/path_check.hpp"
#include "harness/detect/switches.hpp"
#include "harness/simulate/pair_fleet.hpp"
#include "tests/unit/finding_lines.hpp"

namespace fleetbench {
namespace {

using simulation::PairBlocks;
using simulation::PairFault;
using simulation::PairSpec;
using simulation::simulate_pairs;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> slow_ones(const Report& report) {
  std::vector<std::string> names;
  for (const Finding& finding : report.findings) {
    if (is_slow(finding) && !finding.explained_by) {
      names.push_back(finding.subject.kind + " " + describe(finding.subject));
    }
  }
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> true_ones(const simulation::PairFleet& fleet) {
  std::vector<std::string> names;
  for (const simulation::TrueFault& fault : fleet.faults) {
    names.push_back(fault.subject.kind + " " + describe(fault.subject));
  }
  std::ranges::sort(names);
  return names;
}

struct NamedCase {
  const char* name;
  PairSpec spec;
};

class Pairs : public testing::TestWithParam<NamedCase> {};

TEST_P(Pairs, NameJustWhoIsAtFault) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const auto fleet = simulate_pairs(GetParam().spec, seed);
    EXPECT_EQ(slow_ones(analyze(fleet.run)), true_ones(fleet)) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Simulated, Pairs,
    testing::Values(
        NamedCase{"node", {.nodes = 16, .fault = PairFault::node, .effect = 0.1}},
        NamedCase{"node_of_matchings",
                  {.nodes = 64, .matchings = 8, .fault = PairFault::node, .effect = 0.1}},
        NamedCase{"two_nodes_that_meet", {.nodes = 16, .fault = PairFault::two_nodes}},
        NamedCase{"rail_of_a_node",
                  {.nodes = 8, .rails = 4, .fault = PairFault::rail, .effect = 0.1}},
        NamedCase{"all_rails_of_a_node", {.nodes = 8, .rails = 4, .fault = PairFault::node}},
        NamedCase{"rail_of_all_nodes", {.nodes = 8, .rails = 4, .fault = PairFault::whole_rail}},
        NamedCase{"link", {.nodes = 16, .noise = 0.01, .fault = PairFault::link}},
        NamedCase{"link_on_a_rail",
                  {.nodes = 8, .rails = 2, .noise = 0.01, .fault = PairFault::link}},
        NamedCase{"leaf", {.nodes = 16, .leaf_size = 4, .fault = PairFault::leaf, .effect = 0.1}},
        NamedCase{"one_of_two_leaves", {.nodes = 8, .leaf_size = 4, .fault = PairFault::leaf}},
        NamedCase{"leaf_of_matchings",
                  {.nodes = 64, .matchings = 8, .leaf_size = 8, .fault = PairFault::leaf}},
        NamedCase{"uplink_beside_blocks",
                  {.nodes = 16,
                   .leaf_size = 4,
                   .blocks = PairBlocks::leaves,
                   .fault = PairFault::uplink}},
        NamedCase{"two_blocks", {.nodes = 16, .blocks = PairBlocks::two}},
        NamedCase{"two_blocks_of_matchings",
                  {.nodes = 64, .matchings = 8, .blocks = PairBlocks::two}},
        NamedCase{"node_in_two_blocks",
                  {.nodes = 17, .blocks = PairBlocks::two, .fault = PairFault::node}},
        NamedCase{"healthy", {.nodes = 16}},
        NamedCase{"some_failed", {.nodes = 16, .fault = PairFault::failed}},
        NamedCase{"two_halves_apart", {.nodes = 16, .fault = PairFault::disconnected}}),
    [](const auto& test) { return std::string(test.param.name); });

std::vector<std::string> evidence_of(const Finding& finding) {
  std::vector<std::string> texts;
  for (const Evidence& evidence : finding.evidence) {
    texts.push_back(evidence.text);
  }
  return texts;
}

// Some are far slower than most: from the links of 32 nodes that can be told.
TEST(Attribution, LearnsThatHealthyLinksHaveLongTails) {
  const PairSpec spec{.nodes = 32, .between = 1, .tails = simulation::Tails::t4};
  int alarmed = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::vector<std::string> names = slow_ones(analyze(simulate_pairs(spec, seed).run));
    alarmed += std::ranges::any_of(
        names, [](const std::string& name) { return name.starts_with("link "); });
  }
  EXPECT_LE(alarmed, 10);  // twice as many where nothing is learnt
}

TEST(Attribution, CountsThePairsForAndAgainst) {
  PairSpec spec{.nodes = 8, .rails = 4, .symmetric = true, .noise = 0.01};
  spec.fault = PairFault::rail;
  const Report report = analyze(simulate_pairs(spec, 3).run);
  ASSERT_EQ(report.findings.size(), 1U);
  const Finding& finding = report.findings.front();
  ASSERT_TRUE(finding.counts);
  EXPECT_EQ(finding.counts->slow_touching, 7);
  EXPECT_EQ(finding.counts->touching, 7);
  EXPECT_EQ(finding.counts->slow_others, 0);
  EXPECT_EQ(finding.counts->others, 4 * 28 - 7);
  EXPECT_THAT(evidence_of(finding),
              Contains(HasSubstr("7 of 7 pairs with " + describe(finding.subject) +
                                 " slow, 0 of 105 others")));
  EXPECT_THAT(finding.next_check, HasSubstr("ibstat"));
}

TEST(Attribution, SaysHowManySlowNodesHangOnASwitch) {
  PairSpec spec{.nodes = 16, .noise = 0.01, .leaf_size = 4, .fault = PairFault::leaf};
  const auto fleet = simulate_pairs(spec, 5);
  const Report report = analyze(fleet.run);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_THAT(evidence_of(report.findings.front()),
              Contains("4 of 4 slow nodes hang on " + fleet.faults.front().subject.switch_name));
  EXPECT_THAT(report.findings.front().next_check, HasSubstr("port_xmit_wait"));
}

TEST(Attribution, ReportsBlocksAsTopology) {
  const Report report = analyze(simulate_pairs({.nodes = 12, .blocks = PairBlocks::two}, 2).run);
  ASSERT_EQ(report.blocks.size(), 1U);
  EXPECT_EQ(report.blocks.front().nodes.size(), 2U);
  EXPECT_GT(report.blocks.front().within, 1.4 * report.blocks.front().across);
  EXPECT_THAT(report.notes, Contains(HasSubstr("no fault of a node")));
}

TEST(Attribution, SaysWhatPairsCannotTell) {
  PairSpec spec{.nodes = 8, .leaf_size = 4, .fault = PairFault::uplink};
  EXPECT_THAT(analyze(simulate_pairs(spec, 1).run).notes, Contains(HasSubstr("with two leaves")));
  spec = {.nodes = 64, .matchings = 4};
  const Report few = analyze(simulate_pairs(spec, 1).run);
  EXPECT_THAT(few.notes, Contains(HasSubstr("blocks of nodes were not looked for")));
  EXPECT_THAT(few.notes, Contains(HasSubstr("a single slow link among the others")));
  spec = {.nodes = 16, .fault = PairFault::disconnected};
  EXPECT_THAT(analyze(simulate_pairs(spec, 1).run).notes,
              Contains(HasSubstr("2 groups of nodes are compared within themselves")));
}

// Random groups of eight: a slow node drags all of its groups.
RunData run_of_groups(int nodes, int rounds, int slow, unsigned seed) {
  RunData run = simulate_pairs({.nodes = nodes}, seed).run;
  run.samples.clear();
  MetricInfo& metric = run.steps.front().metrics.front();
  metric.subject = SubjectKind::group;
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 0.02);
  std::vector<int> order(static_cast<std::size_t>(nodes));
  std::iota(order.begin(), order.end(), 0);
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (int first = 0; first < nodes; first += 8) {
      const std::vector<int> group(order.begin() + first, order.begin() + first + 8);
      const bool drags = std::ranges::count(group, slow) > 0;
      for (int pass = 0; pass < 5; ++pass) {
        for (const int node : group) {
          SampleRecord sample;
          sample.node = node;
          sample.pass = pass;
          sample.group = group;
          sample.values = {24e9 / (drags ? 1.2 : 1) * std::exp(noise(random))};
          run.samples.push_back(std::move(sample));
        }
      }
    }
  }
  return run;
}

TEST(Attribution, OfShuffledGroupsNamesTheNodeThatTheSlowOnesShare) {
  const Report report = analyze(run_of_groups(64, 6, 37, 4));
  EXPECT_THAT(slow_ones(report), ElementsAre("node node0037"));
  ASSERT_FALSE(report.findings.empty());
  EXPECT_THAT(evidence_of(report.findings.front()),
              Contains(HasSubstr("6 of 6 groups with node0037 slow, 0 of 42 others")));
  EXPECT_THAT(slow_ones(analyze(run_of_groups(64, 6, -1, 4))), IsEmpty());
}

TEST(Attribution, OfTooFewGroupsNamesNobody) {
  EXPECT_THAT(slow_ones(analyze(run_of_groups(64, 2, 37, 4))), IsEmpty());
}

}  // namespace

namespace detect {
namespace {

std::vector<PairValue> complete(int nodes, auto x) {
  std::vector<PairValue> pairs;
  for (int a = 0; a < nodes; ++a) {
    for (int b = a + 1; b < nodes; ++b) {
      pairs.push_back({a, b, x(a, b)});
    }
  }
  return pairs;
}

double ripple(int a, int b) { return 0.01 * std::sin(7.0 * a + 13.0 * b); }

TEST(Blocks, AreFoundBesideASlowNodeThatIsNone) {
  const auto pairs = complete(12, [](int a, int b) {
    return ripple(a, b) + ((a < 5) != (b < 5) ? 0.4 : 0) + (a == 7 || b == 7 ? 0.3 : 0);
  });
  const BlockSearch search = find_blocks(12, pairs, 0.05);
  EXPECT_TRUE(search.looked_for);
  ASSERT_EQ(search.blocks, 2);
  for (int node = 0; node < 12; ++node) {
    EXPECT_EQ(search.block[node] == search.block[0], node < 5) << node;
  }
}

TEST(Blocks, AreNotWhereAllPairsOfSomeNodesAreSlow) {
  const auto slow = complete(12, [](int a, int b) { return ripple(a, b) + (a < 5 ? 0.4 : 0); });
  EXPECT_TRUE(find_blocks(12, slow, 0.05).block.empty());
  EXPECT_TRUE(find_blocks(12, complete(12, ripple), 0.05).block.empty());
}

TEST(Blocks, OfMatchingsAreWhatFastPairsJoin) {
  std::vector<PairValue> pairs;
  for (int a = 0; a < 40; ++a) {
    for (const int step : {1, 2, 5, 11}) {
      const int b = (a + step) % 40;
      pairs.push_back({a, b, ripple(a, b) + ((a < 20) != (b < 20) ? 0.4 : 0)});
    }
  }
  const BlockSearch search = find_blocks(40, pairs, 0.05);
  ASSERT_EQ(search.blocks, 2);
  EXPECT_EQ(search.block[3], search.block[17]);
  EXPECT_NE(search.block[3], search.block[23]);
  for (PairValue& pair : pairs) {
    pair.x = ripple(pair.from, pair.to);
  }
  EXPECT_FALSE(find_blocks(40, pairs, 0.05).looked_for);
}

TEST(Cover, TakesTheFewestWhoExplainMost) {
  // Pairs 0 to 5 are slow. Candidate 0 touches them all, 1 and 2 three each, 3 six more besides.
  const std::vector<double> excess{0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0, 0, 0, 0, 0, 0};
  const std::vector<Candidate> candidates{{{0, 1, 2, 3, 4, 5}, {}},
                                          {{0, 1, 2}, {}},
                                          {{3, 4, 5}, {}},
                                          {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {}}};
  const auto culprits = cover(excess, 0.02, candidates, 0.02);
  ASSERT_EQ(culprits.size(), 1U);
  EXPECT_EQ(culprits[0].candidate, 0);
  EXPECT_NEAR(culprits[0].effect, 0.2, 1e-9);
}

TEST(Cover, ASwitchNeedsMostOfItsNodes) {
  const std::vector<double> excess{0.2, 0.2, 0.2, 0, 0, 0};
  const std::vector<Candidate> candidates{{{0, 1, 2, 3}, {{0, 1, 2}, {3}}}, {{0, 1, 2}, {}}};
  const auto culprits = cover(excess, 0.02, candidates, 0.02);
  ASSERT_EQ(culprits.size(), 1U);
  EXPECT_EQ(culprits[0].candidate, 1);
}

TEST(Cover, NamesThoseThatCannotBeToldApart) {
  const std::vector<double> excess{0.2, 0.2, 0.2, 0, 0, 0};
  const auto culprits = cover(excess, 0.02, {{{0, 1, 2}, {}}, {{0, 1, 2}, {}}}, 0.02);
  ASSERT_EQ(culprits.size(), 1U);
  EXPECT_THAT(culprits[0].rivals, ElementsAre(1));
}

TEST(Switches, TellHowFarApartNodesHang) {
  Topology topology;
  topology.switches = {{"leaf0", {"a", "b"}, {}},
                       {"leaf1", {"c"}, {}},
                       {"leaf2", {"d"}, {}},
                       {"pod", {}, {"leaf0", "leaf1"}},
                       {"core", {}, {"pod", "leaf2"}}};
  const Switches switches(topology, {"a", "b", "c", "d", "e"});
  EXPECT_EQ(switches.distance(0, 1), 0);
  EXPECT_EQ(switches.distance(0, 2), 1);
  EXPECT_EQ(switches.distance(0, 3), 2);
  EXPECT_EQ(switches.distance(0, 4), -1);
  std::vector<std::string> names;
  for (const Component& component : switches.components()) {
    names.push_back(component.subject.switch_name);
  }
  EXPECT_THAT(names, ElementsAre("leaf0", "leaf1", "leaf2", "pod", "core"));
  EXPECT_FALSE(Switches({}, {"a"}).known());
}

}  // namespace
}  // namespace detect
}  // namespace fleetbench
