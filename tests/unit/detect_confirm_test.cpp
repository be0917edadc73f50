// Suspects that were measured again: what becomes of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "harness/detect/confirm.hpp"
#include "harness/detect/robust.hpp"
#include "harness/detect/signed_rank.hpp"
#include "tests/unit/detect_simulation.hpp"

namespace fleetbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Tables of the signed-rank test, one-sided: P(W >= w) for n differences.
TEST(SignedRank, HasTheKnownProbabilities) {
  EXPECT_DOUBLE_EQ(detect::signed_rank_p({1, 2, 3, 4, 5}), 1.0 / 32);
  EXPECT_DOUBLE_EQ(detect::signed_rank_p({1, 2, 3, 4, 5, 6, 7, 8}), 1.0 / 256);
  EXPECT_DOUBLE_EQ(detect::signed_rank_p({-1, 2, 3, 4, 5, 6, 7, 8}), 2.0 / 256);
  EXPECT_DOUBLE_EQ(detect::signed_rank_p({1, -2, 3, 4, 5, 6, 7, 8}), 3.0 / 256);
  EXPECT_DOUBLE_EQ(detect::signed_rank_p({-1, -2, 3, 4, 5, 6, 7, 8}), 5.0 / 256);
  // W = 45 of 55: one-sided critical value of n = 10 at 0.01 is 5 for the smaller sum, p 0.0098;
  // 10 is that at 0.05, p 0.0420.
  EXPECT_NEAR(detect::signed_rank_p({-5, 1, 2, 3, 4, 6, 7, 8, 9, 10}), 0.0098, 0.0001);
  EXPECT_NEAR(detect::signed_rank_p({-10, 1, 2, 3, 4, 5, 6, 7, 8, 9}), 0.0420, 0.0001);
}

TEST(SignedRank, SharesRanksAndLeavesOutZeros) {
  // Ranks 1.5 and 1.5: of four sums (0, 1.5, 1.5, 3) three are at least 1.5.
  EXPECT_DOUBLE_EQ(detect::signed_rank_p({1, -1}), 0.75);
  EXPECT_DOUBLE_EQ(detect::signed_rank_p({0, 0, 1, 2}), 0.25);
  EXPECT_DOUBLE_EQ(detect::signed_rank_p({0, 0}), 1);
  EXPECT_DOUBLE_EQ(detect::signed_rank_p({}), 1);
  EXPECT_DOUBLE_EQ(detect::signed_rank_p({-1, -2, -3}), 1);
}

FleetModel host_fault(int nodes, double times) {
  FleetModel model;
  model.nodes = nodes;
  model.between = model.within = 0.003;
  model.host = {{2, times}};
  return model;
}

// How many times slower each is while it is measured again.
struct Second {
  double suspect = 1;
  double reference = 1;
  int pairs_back = kPairs;
  std::function<double(int pair)> noise = [](int) { return 1.0; };  // of the suspect
};

const Finding& first_of(const Report& report) { return report.findings.at(0); }

std::string all_evidence(const Finding& finding) {
  std::string text;
  for (const Evidence& evidence : finding.evidence) {
    text += evidence.text + "\n";
  }
  return text;
}

SampleRecord again(const RunData& run, const ConfirmRecord& record, int pair, int node,
                   double slower) {
  const auto main = std::ranges::find_if(run.samples, [&](const SampleRecord& sample) {
    return sample.step == record.step && sample.node == node && !sample.confirms;
  });
  SampleRecord sample = *main;
  sample.confirms = record.confirm;
  sample.pass = pair;
  // That of the simulation, so that a test says what each differs by.
  sample.values = {(record.step == 0 ? 168e9 : 21e9) / slower * (1 + 1e-6 * pair)};
  return sample;
}

// The run with its first suspect measured again.
RunData measured_again(RunData run, const Second& second) {
  const auto records = suspects_to_confirm(run, analyze(run));
  add_record(run, records.at(0));
  const Comparison& compared = records[0].compared.at(0);
  for (int pair = 0; pair < second.pairs_back; ++pair) {
    add_record(run,
               again(run, records[0], pair, compared.node, second.suspect * second.noise(pair)));
    add_record(run, again(run, records[0], pair, compared.reference, second.reference));
  }
  return run;
}

RunData fleet_with_slow_host(int nodes, double times) {
  return simulate(host_fault(nodes, times), 1);
}

// Nodes but the slow one, the fastest first.
std::vector<int> by_level(const RunData& run, int step) {
  std::vector<std::pair<double, int>> levels;
  for (const NodeInfo& node : run.header.nodes) {
    std::vector<double> values;
    for (const SampleRecord& sample : run.samples) {
      if (sample.step == step && sample.node == node.index) {
        values.push_back(*sample.values[0]);
      }
    }
    if (node.index != 2) {
      levels.emplace_back(-detect::median(values), node.index);
    }
  }
  std::ranges::sort(levels);
  std::vector<int> nodes;
  for (const auto& [level, node] : levels) {
    nodes.push_back(node);
  }
  return nodes;
}

TEST(Suspects, AreMeasuredBesideTheMedianOfTheSound) {
  const RunData run = fleet_with_slow_host(16, 1.2);
  const auto records = suspects_to_confirm(run, analyze(run));
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].pairs, kPairs);
  ASSERT_EQ(records[0].compared.size(), 1U);
  EXPECT_EQ(records[0].compared[0].node, 2);
  EXPECT_EQ(records[0].compared[0].reference, by_level(run, records[0].step)[7]);
  EXPECT_EQ(records[0].compared[0].metric, run.steps[records[0].step].id + ".rate");
}

TEST(Suspects, ArePairedWithinTheirCohort) {
  RunData run = fleet_with_slow_host(16, 1.2);
  const Report report = analyze(run);
  for (NodeInfo& node : run.header.nodes) {
    node.cohort = node.index == 2 || node.index == 6 ? "old" : "new";
  }
  const auto records = suspects_to_confirm(run, report);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].compared[0].reference, 6);
  run.header.nodes[6].cohort = "new";
  const auto alone = suspects_to_confirm(run, report);
  EXPECT_EQ(alone.at(0).pairs, 0);
  EXPECT_THAT(alone[0].reason, HasSubstr("no sound peer"));
}

TEST(Suspects, AreTakenOnce) {
  const RunData run = measured_again(fleet_with_slow_host(16, 1.2), {.suspect = 1.2});
  EXPECT_THAT(suspects_to_confirm(run, analyze(run)), testing::IsEmpty());
}

TEST(Suspects, AreNoneInAHealthyFleet) {
  const RunData run = fleet_with_slow_host(16, 1);
  EXPECT_THAT(suspects_to_confirm(run, analyze(run)), testing::IsEmpty());
}

// A finding about how much its passes vary, say.
TEST(Suspects, WhoseLevelIsThatOfTheirPeersAreLeftOut) {
  const RunData run = fleet_with_slow_host(16, 1);
  Finding finding;
  finding.subject.kind = "node";
  finding.subject.node = "node2";
  finding.slowdown_pct = 10;
  finding.metrics = {{"cpu_gemm.rate", "FLOP/s", 1, 1, 10}};
  Report report;
  report.findings = {finding};
  const auto records = suspects_to_confirm(run, report);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].pairs, 0);
  EXPECT_THAT(records[0].reason, HasSubstr("not that it is slower than its peers in the median"));
}

TEST(Suspects, OfPairsAreNodesAndLinks) {
  FleetModel model;
  model.nodes = 16;
  model.sends = {{1, 4}};
  RunData run = simulate(model, 3);
  auto records = suspects_to_confirm(run, analyze(run));
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].compared[0].node, 1);
  EXPECT_EQ(records[0].compared[0].metric, "mpi_pairs.bandwidth sending");
  model.sends.clear();
  model.links[{0, 3}] = 5;
  run = simulate(model, 3);
  records = suspects_to_confirm(run, analyze(run));
  ASSERT_EQ(records.size(), 1U);
  const Comparison& compared = records[0].compared[0];
  EXPECT_EQ(std::pair(compared.node, compared.peer), std::pair(0, std::optional(3)));
  ASSERT_TRUE(compared.reference_peer);
  EXPECT_NE(std::minmax(compared.reference, *compared.reference_peer), std::minmax(0, 3));
}

struct Case {
  const char* name;
  double first;  // how many times slower in the passes
  Second second;
  FindingStatus status;
  Verdict verdict;
  const char* evidence;
};

class Confirmation : public testing::TestWithParam<Case> {};

TEST_P(Confirmation, SaysWhatBecameOfIt) {
  const Case& c = GetParam();
  const Report report = analyze(measured_again(fleet_with_slow_host(16, c.first), c.second));
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(to_string(first_of(report).status), to_string(c.status));
  EXPECT_EQ(to_string(report.verdict), to_string(c.verdict));
  EXPECT_THAT(all_evidence(first_of(report)), HasSubstr(c.evidence));
}

double in_pairs(std::initializer_list<int> pairs, int pair, double factor) {
  return std::ranges::count(pairs, pair) > 0 ? factor : 1;
}

INSTANTIATE_TEST_SUITE_P(
    Detect, Confirmation,
    testing::Values(
        Case{"reproduced",
             1.2,
             {.suspect = 1.2},
             FindingStatus::confirmed,
             Verdict::fail,
             "slower in 8 of 8 pairs, +20.0 % in the median"},
        Case{"all_became_slower",
             1.2,
             {.suspect = 1.8, .reference = 1.5},
             FindingStatus::confirmed,
             Verdict::fail,
             "+20.0 % in the median"},
        Case{"one_small_exception",
             1.2,
             {.suspect = 1.2, .noise = [](int p) { return in_pairs({3}, p, 0.83); }},
             FindingStatus::confirmed,
             Verdict::fail,
             "slower in 7 of 8 pairs"},
        Case{"one_pair_missing",
             1.2,
             {.suspect = 1.2, .pairs_back = 7},
             FindingStatus::confirmed,
             Verdict::fail,
             "slower in 7 of 7 pairs"},
        Case{"just_over_half",
             1.2,
             {.suspect = 1.11},
             FindingStatus::confirmed,
             Verdict::fail,
             "+11.0 % in the median"},
        Case{"slow_but_no_longer_thrice",
             3,
             {.suspect = 1.3},
             FindingStatus::confirmed,
             Verdict::fail,
             "+30.0 % in the median"},
        Case{"gone", 1.2, {}, FindingStatus::not_reproduced, Verdict::pass, "+0.0 % in the median"},
        Case{"under_half",
             1.2,
             {.suspect = 1.08},
             FindingStatus::not_reproduced,
             Verdict::pass,
             "slower in 8 of 8 pairs, +8.0 % in the median"},
        Case{"reference_slow_itself",
             1.2,
             {.suspect = 1.2, .reference = 1.2},
             FindingStatus::suspect,
             Verdict::warn,
             "that one had become as slow itself"},
        Case{"too_few_pairs",
             1.2,
             {.suspect = 1.2, .pairs_back = 6},
             FindingStatus::suspect,
             Verdict::warn,
             "only 6 of 8 pairs came back"},
        Case{"nothing_came_back",
             1.2,
             {.suspect = 1.2, .pairs_back = 0},
             FindingStatus::suspect,
             Verdict::warn,
             "only 0 of 8 pairs came back"},
        Case{"slow_but_not_surely",
             1.2,
             {.suspect = 1.2,
              .noise =
                  [](int p) {
                    return in_pairs({0, 5}, p, 0.5);
                  }},
             FindingStatus::suspect,
             Verdict::warn,
             "slower in 6 of 8 pairs"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(AmongFourNodes, OnlyWhatNoHealthyFleetShowsIsConfirmed) {
  const Report large = analyze(measured_again(fleet_with_slow_host(4, 1.5), {.suspect = 1.5}));
  EXPECT_EQ(first_of(large).status, FindingStatus::confirmed);
  EXPECT_EQ(large.verdict, Verdict::fail);
  RunData run = fleet_with_slow_host(4, 1.14);
  ASSERT_EQ(first_of(analyze(run)).status, FindingStatus::tentative);
  const Report small = analyze(measured_again(std::move(run), {.suspect = 1.14}));
  EXPECT_EQ(first_of(small).status, FindingStatus::tentative);
  EXPECT_EQ(small.verdict, Verdict::warn);
  EXPECT_THAT(all_evidence(first_of(small)), HasSubstr("among fewer than 5 nodes"));
}

TEST(Confirmation, LeftOutIsSaidAndNothingChanges) {
  RunData run = fleet_with_slow_host(16, 1.2);
  auto records = suspects_to_confirm(run, analyze(run));
  records.at(0).pairs = 0;
  records[0].reason = "no time was left";
  add_record(run, records[0]);
  const Report report = analyze(run);
  EXPECT_EQ(first_of(report).status, FindingStatus::suspect);
  EXPECT_EQ(report.verdict, Verdict::warn);
  EXPECT_THAT(all_evidence(first_of(report)), HasSubstr("not measured again: no time was left"));
  EXPECT_TRUE(suspects_to_confirm(run, report).empty());
}

TEST(Confirmation, SamplesOfItChangeNoOtherFigure) {
  const RunData run = fleet_with_slow_host(16, 1.2);
  const Report before = analyze(run);
  const Report after = analyze(measured_again(run, {.suspect = 5, .reference = 3}));
  EXPECT_EQ(to_json(after).at("metrics"), to_json(before).at("metrics"));
  EXPECT_EQ(first_of(after).slowdown_pct, first_of(before).slowdown_pct);
  EXPECT_EQ(first_of(after).p_value, first_of(before).p_value);
}

TEST(Confirmation, AWrongResultInItIsNotPassedOver) {
  RunData run = measured_again(fleet_with_slow_host(16, 1.2), {.suspect = 1.2});
  SampleRecord wrong = run.samples.back();
  wrong.status = Status::wrong;
  wrong.values.clear();
  wrong.node = 5;
  add_record(run, wrong);
  const Report report = analyze(run);
  EXPECT_EQ(first_of(report).direction, Direction::wrong);
  EXPECT_EQ(first_of(report).subject.node, "node5");
}

TEST(NotReproduced, IsAWarningWhereErrorCountersRose) {
  RunData run = measured_again(fleet_with_slow_host(16, 1.2), {});
  const int suspect = run.confirmations[0].compared[0].node;
  const int reference = run.confirmations[0].compared[0].reference;
  const auto with_rises = [&](const char* kind, int of_suspect, int of_reference) {
    RunData changed = run;
    for (SampleRecord& sample : changed.samples) {
      const int rise = sample.node == suspect ? of_suspect : of_reference;
      if (sample.node == suspect || sample.node == reference) {
        sample.detail = {{"evidence", {{"rises", {{kind, rise}}}}}};
      }
    }
    return analyze(changed);
  };
  const Report rose = with_rises("disk_errors", 2, 0);
  EXPECT_EQ(rose.verdict, Verdict::warn);
  EXPECT_THAT(all_evidence(first_of(rose)), HasSubstr("disk_errors of node2 rose by"));
  EXPECT_NE(with_rises("disk_errors", 0, 0).verdict, Verdict::warn);
  EXPECT_NE(with_rises("tcp_retransmits", 4, 3).verdict, Verdict::warn);
  EXPECT_NE(with_rises("context_switches", 500, 0).verdict, Verdict::warn);
}

TEST(NotReproduced, IsNotedAndExplainsNothing) {
  FleetModel model = host_fault(16, 3);
  model.sends = {{2, 2.5}};
  model.receives = {{2, 2.5}};
  RunData run = simulate(model, 1);
  const auto explained = [](const Report& report) {
    return std::ranges::count_if(
        report.findings, [](const Finding& finding) { return finding.explained_by.has_value(); });
  };
  EXPECT_EQ(explained(analyze(run)), 1);
  ASSERT_EQ(suspects_to_confirm(run, analyze(run)).size(), 1U);
  run = measured_again(std::move(run), {});
  const Report report = analyze(run);
  EXPECT_EQ(explained(report), 0);
  EXPECT_EQ(first_of(report).layer, Layer::network);
  EXPECT_EQ(report.findings.back().status, FindingStatus::not_reproduced);
  EXPECT_THAT(report.notes, testing::Contains(HasSubstr("but not when it was measured again")));
  // What it explained is a suspect now.
  const auto next = suspects_to_confirm(run, report);
  ASSERT_EQ(next.size(), 1U);
  EXPECT_THAT(next[0].compared[0].metric, HasSubstr("mpi_pairs"));
}

// Of a node's links in the round, those that its metric is about.
TEST(Confirmation, OfPairsComparesWhatTheMetricIsAbout) {
  FleetModel model;
  model.nodes = 16;
  model.sends = {{1, 4}};
  RunData run = simulate(model, 3);
  const auto records = suspects_to_confirm(run, analyze(run));
  add_record(run, records.at(0));
  const int reference = records[0].compared[0].reference;
  const int partner = reference == 0 ? 2 : 0;
  for (int pair = 0; pair < kPairs; ++pair) {
    for (const auto& [from, to] : {std::pair(1, partner), std::pair(partner, 1),
                                   std::pair(reference, partner), std::pair(partner, reference)}) {
      SampleRecord sample = sample_of(2, pair, from, {from == 1 ? 240e6 : 950e6, std::nullopt});
      sample.peer = to;
      sample.confirms = 0;
      add_record(run, sample);
    }
  }
  const Report report = analyze(run);
  EXPECT_EQ(first_of(report).status, FindingStatus::confirmed);
  EXPECT_THAT(all_evidence(first_of(report)), HasSubstr("4.0 times as slow"));
}

// A fleet with a slow link.
RunData fleet_with_slow_link(int nodes) {
  FleetModel model;
  model.nodes = nodes;
  model.links[{0, 3}] = 5;
  return simulate(model, 3);
}

// The record and what came of it, at this bandwidth of the suspect.
void measure_link_again(RunData& run, const ConfirmRecord& record, double bytes_per_s) {
  add_record(run, record);
  const Comparison& compared = record.compared.at(0);
  for (int pair = 0; pair < kPairs; ++pair) {
    for (const auto& [from, to, value] :
         {std::tuple(0, 3, bytes_per_s),
          std::tuple(compared.reference, *compared.reference_peer, 950e6)}) {
      SampleRecord sample = sample_of(2, pair, from, {value * (1 + 1e-6 * pair), std::nullopt});
      sample.peer = to;
      sample.confirms = record.confirm;
      add_record(run, sample);
    }
  }
}

ConfirmRecord numbered(ConfirmRecord record, int number) {
  record.confirm = number;
  return record;
}

TEST(Confirmation, OfALinkComparesLinks) {
  RunData run = fleet_with_slow_link(16);
  measure_link_again(run, suspects_to_confirm(run, analyze(run)).at(0), 190e6);
  const Report report = analyze(run);
  EXPECT_EQ(first_of(report).subject.kind, "link");
  EXPECT_EQ(first_of(report).status, FindingStatus::confirmed);
  EXPECT_EQ(report.verdict, Verdict::fail);
}

TEST(Solo, FollowsForALinkThatIsConfirmedBesideOthers) {
  RunData run = fleet_with_slow_link(16);
  const auto first = suspects_to_confirm(run, analyze(run));
  ASSERT_EQ(first.size(), 1U);
  EXPECT_FALSE(first[0].solo);
  RunData alone_anyway = run;
  alone_anyway.steps[2].concurrent = false;
  RunData not_reproduced = run;
  measure_link_again(run, first[0], 190e6);
  const auto second = suspects_to_confirm(run, analyze(run));
  ASSERT_EQ(second.size(), 1U);
  EXPECT_TRUE(second[0].solo);
  EXPECT_EQ(second[0].pairs, kPairs);
  EXPECT_EQ(to_json(Record(second[0])).at("compared"), to_json(Record(first[0])).at("compared"));
  measure_link_again(run, numbered(second[0], 1), 190e6);
  EXPECT_TRUE(suspects_to_confirm(run, analyze(run)).empty());

  measure_link_again(alone_anyway, first[0], 190e6);
  EXPECT_TRUE(suspects_to_confirm(alone_anyway, analyze(alone_anyway)).empty());
  measure_link_again(not_reproduced, first[0], 949e6);
  EXPECT_TRUE(suspects_to_confirm(not_reproduced, analyze(not_reproduced)).empty());
}

TEST(Solo, TellsABadLinkFromCongestion) {
  RunData run = fleet_with_slow_link(16);
  measure_link_again(run, suspects_to_confirm(run, analyze(run)).at(0), 190e6);
  const ConfirmRecord solo = numbered(suspects_to_confirm(run, analyze(run)).at(0), 1);
  RunData crowded = run;
  measure_link_again(run, solo, 190e6);
  const Report bad = analyze(run);
  EXPECT_EQ(first_of(bad).status, FindingStatus::confirmed);
  EXPECT_THAT(all_evidence(first_of(bad)), HasSubstr("with the fleet quiet, beside node"));
  EXPECT_THAT(all_evidence(first_of(bad)),
              HasSubstr("slower in 8 of 8 pairs, 5.0 times as slow in the median: slow by itself"));
  EXPECT_EQ(first_of(bad).cause, "");
  measure_link_again(crowded, solo, 949e6);
  const Report congested = analyze(crowded);
  EXPECT_EQ(first_of(congested).status, FindingStatus::confirmed);
  EXPECT_THAT(all_evidence(first_of(congested)), HasSubstr("slow only while others measure"));
  EXPECT_EQ(first_of(congested).cause, "congestion: slow only while others measure");
}

}  // namespace
}  // namespace fleetbench
