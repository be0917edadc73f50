// Whole simulated fleets: who is accused, and who is not.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/detect/detect.hpp"
#include "tests/unit/detect_simulation.hpp"

namespace fleetbench {
namespace {

int slow_count(const Report& report) {
  return static_cast<int>(
      std::count_if(report.findings.begin(), report.findings.end(),
                    [](const Finding& finding) { return finding.direction == Direction::slow; }));
}

std::string place(const Finding& finding) {
  return describe(finding.subject) + "/" + std::string(to_string(finding.layer));
}

struct Healthy {
  const char* name;
  FleetModel model;
  int fleets;
  int alarmed_at_most;
};

class HealthyFleets : public testing::TestWithParam<Healthy> {};

TEST_P(HealthyFleets, AreSeldomAlarmed) {
  const Healthy& healthy = GetParam();
  int alarmed = 0;
  for (int seed = 0; seed < healthy.fleets; ++seed) {
    const Report report = analyze(simulate(healthy.model, static_cast<unsigned>(seed)));
    alarmed += slow_count(report) > 0;
    EXPECT_NE(report.verdict, Verdict::fail);
  }
  RecordProperty("alarmed", alarmed);
  EXPECT_LE(alarmed, healthy.alarmed_at_most);
}

FleetModel noisy(double noise, int passes = 5) {
  FleetModel model;
  model.within = model.bandwidth_noise = model.latency_noise = noise;
  model.passes = passes;
  return model;
}

FleetModel larger(int nodes, Tails tails) {
  FleetModel model;
  model.nodes = nodes;
  model.tails = tails;
  return model;
}

FleetModel wide(double between) {
  FleetModel model;
  model.between = between;
  return model;
}

INSTANTIATE_TEST_SUITE_P(Detect, HealthyFleets,
                         testing::Values(Healthy{"four", {}, 1000, 15},
                                         Healthy{"three", larger(3, Tails::normal), 300, 4},
                                         Healthy{"four_noisy", noisy(0.08), 300, 4},
                                         Healthy{"four_very_noisy", noisy(0.25), 300, 4},
                                         Healthy{"four_noisy_one_pass", noisy(0.08, 1), 300, 4},
                                         Healthy{"four_noisy_two_passes", noisy(0.08, 2), 300, 4},
                                         Healthy{"four_thrice_the_expected_spread", wide(0.03), 300,
                                                 4},
                                         Healthy{"eight_t4", larger(8, Tails::t4), 150, 3},
                                         Healthy{"sixteen", larger(16, Tails::normal), 60, 1},
                                         Healthy{"sixteen_t4", larger(16, Tails::t4), 150, 4},
                                         Healthy{"sixty_four_t4", larger(64, Tails::t4), 5, 1}),
                         [](const auto& test) { return std::string(test.param.name); });

struct Faulty {
  const char* name;
  FleetModel model;
  std::set<std::string> first;  // the first findings, in any order
  int slow;                     // slow findings in all, the explained ones included
};

class FaultyFleets : public testing::TestWithParam<Faulty> {};

TEST_P(FaultyFleets, NameTheCulpritFirstAndNobodyElse) {
  const Faulty& faulty = GetParam();
  for (unsigned seed = 0; seed < 40; ++seed) {
    const Report report = analyze(simulate(faulty.model, seed));
    ASSERT_GE(report.findings.size(), faulty.first.size()) << seed;
    std::set<std::string> first;
    for (std::size_t i = 0; i < faulty.first.size(); ++i) {
      first.insert(place(report.findings[i]));
      EXPECT_EQ(report.findings[i].rank, static_cast<int>(i) + 1);
      EXPECT_FALSE(report.findings[i].explained_by);
    }
    EXPECT_EQ(first, faulty.first) << seed;
    EXPECT_EQ(slow_count(report), faulty.slow) << seed;
    EXPECT_EQ(report.verdict, Verdict::warn);
  }
}

FleetModel slow_host(int nodes, double times) {
  FleetModel model;
  model.nodes = nodes;
  model.host = {{2, times}};
  return model;
}

FleetModel slow_sender(int nodes, double times) {
  FleetModel model;
  model.nodes = nodes;
  model.sends = {{1, times}};
  return model;
}

FleetModel slow_link(int nodes) {
  FleetModel model;
  model.nodes = nodes;
  model.links[{0, 3}] = 5;
  return model;
}

FleetModel two_faults(bool slower_end_limits, bool sends, bool receives) {
  FleetModel model;
  model.slower_end_limits = slower_end_limits;
  model.host = {{2, 4}};
  model.sends = {{2, 3}};
  model.receives = {{2, 3}};
  if (sends) {
    model.sends[1] = 10;
  }
  if (receives) {
    model.receives[1] = 10;
  }
  return model;
}

FleetModel noisy_host() {
  FleetModel model = slow_host(4, 4);
  model.within = model.bandwidth_noise = model.latency_noise = 0.08;
  return model;
}

FleetModel drifting() {
  FleetModel model = slow_host(5, 1.5);
  model.passes_slow = {{1, 1.3}, {2, 1.6}, {4, 3}};
  return model;
}

const std::set<std::string> kTwo{"node1/network", "node2/host"};

INSTANTIATE_TEST_SUITE_P(
    Detect, FaultyFleets,
    testing::Values(Faulty{"host", slow_host(4, 4), {"node2/host"}, 1},
                    Faulty{"host_of_three", slow_host(3, 4), {"node2/host"}, 1},
                    Faulty{"host_while_noisy", noisy_host(), {"node2/host"}, 1},
                    Faulty{"host_while_all_drift", drifting(), {"node2/host"}, 1},
                    Faulty{"sender", slow_sender(4, 10), {"node1/network"}, 1},
                    Faulty{"sender_twice", slow_sender(4, 2), {"node1/network"}, 1},
                    Faulty{"sender_of_eight", slow_sender(8, 10), {"node1/network"}, 1},
                    Faulty{"link_of_eight", slow_link(8), {"node0 -> node3/network"}, 1},
                    Faulty{"link_of_four", slow_link(4), {"node0 -> node3/network"}, 1},
                    Faulty{"two_faults_send", two_faults(false, true, false), kTwo, 3},
                    Faulty{"two_faults_receive", two_faults(false, false, true), kTwo, 3},
                    Faulty{"two_faults_limit_both", two_faults(true, true, true), kTwo, 3},
                    Faulty{"two_faults_limit_send", two_faults(true, true, false), kTwo, 3}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Detect, ExplainsTheNetworkOfASlowHost) {
  const Report report = analyze(simulate(two_faults(true, true, false), 7));
  ASSERT_EQ(report.findings.size(), 3U);
  const Finding& last = report.findings[2];
  EXPECT_EQ(place(last), "node2/network");
  ASSERT_TRUE(last.explained_by);
  EXPECT_EQ(place(report.findings[*last.explained_by - 1]), "node2/host");
}

TEST(Detect, MergesTheMetricsOfANodeAndSaysWhichWay) {
  const Report report = analyze(simulate(slow_host(4, 4), 1));
  const Finding& host = report.findings.at(0);
  ASSERT_EQ(host.metrics.size(), 2U);
  EXPECT_GE(host.metrics[0].slowdown_pct, host.metrics[1].slowdown_pct);
  EXPECT_NEAR(host.slowdown_pct, 300, 15);
  EXPECT_LT(host.ci_low_pct, host.slowdown_pct);
  EXPECT_GT(host.ci_high_pct, host.slowdown_pct);
  EXPECT_LE(host.p_value, 0.01);
  EXPECT_EQ(host.status, FindingStatus::tentative) << "fewer than five nodes";
  EXPECT_EQ(host.next_check.substr(0, 8), "Look at ");

  const Report network = analyze(simulate(slow_sender(5, 10), 1));
  const Finding& sender = network.findings.at(0);
  EXPECT_EQ(sender.status, FindingStatus::suspect);
  EXPECT_EQ(sender.evidence.at(0).text,
            "what node1 sends is 10 times as slow as what its peers send, in 5 of 5 passes");
  EXPECT_NEAR(sender.metrics.at(0).median, 950e6, 60e6);
}

TEST(Detect, IntervalsCoverTheTruth) {
  int covered = 0;
  constexpr int kFleets = 200;
  for (unsigned seed = 0; seed < kFleets; ++seed) {
    FleetModel model = slow_host(8, 2);
    model.between = 0;  // else the truth of each fleet is another
    const Report report = analyze(simulate(model, seed));
    const Finding& finding = report.findings.at(0);
    covered += finding.ci_low_pct <= 100 && 100 <= finding.ci_high_pct;
  }
  EXPECT_GE(covered, kFleets * 85 / 100);
}

TEST(Detect, OnePassIsTentativeAtMost) {
  FleetModel model = slow_host(8, 4);
  model.passes = 1;
  const Report report = analyze(simulate(model, 1));
  ASSERT_EQ(slow_count(report), 1);
  EXPECT_EQ(report.findings[0].status, FindingStatus::tentative);
}

// Slow in two of five passes by far: the median knows nothing of it. In three of five: the median
// does, and the rule on the worst passes still has to see it remain.
TEST(Detect, ADisturbanceIsNoFinding) {
  FleetModel model;
  model.nodes = 8;
  model.passes = 2;
  RunData run = simulate(model, 3);
  for (SampleRecord& sample : run.samples) {
    if (sample.step == 0 && sample.node == 4 && sample.pass == 1) {
      *sample.values[0] /= 8;
    }
  }
  const Report report = analyze(run);
  EXPECT_EQ(slow_count(report), 0);
}

TEST(Detect, AFastNodeIsANoteAndChangesNoVerdict) {
  for (const int nodes : {8, 16}) {
    FleetModel model;
    model.nodes = nodes;
    const Report before = analyze(simulate(model, 5));
    model.host = {{3, 1.0 / 3}};
    const Report report = analyze(simulate(model, 5));
    ASSERT_EQ(report.findings.size(), 1U);
    EXPECT_EQ(report.findings[0].direction, Direction::fast);
    EXPECT_EQ(report.findings[0].status, FindingStatus::tentative);
    EXPECT_EQ(report.notes.size(), 1U);
    if (nodes == 16) {
      EXPECT_EQ(report.verdict, before.verdict);
    } else {  // one peer less among eight: what is slow by 9 % can no longer be seen
      EXPECT_EQ(report.verdict, Verdict::inconclusive);
    }
  }
}

TEST(Detect, TwoNodesAreComparedButNobodyIsNamed) {
  FleetModel model = slow_host(2, 1);
  model.host = {{1, 2}};
  const Report report = analyze(simulate(model, 1));
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  ASSERT_EQ(report.notes.size(), 2U);
  EXPECT_NE(report.notes[0].find("node1 is "), std::string::npos);
  EXPECT_NE(report.notes[0].find("only a baseline can tell"), std::string::npos);
  model.host.clear();
  EXPECT_TRUE(analyze(simulate(model, 2)).notes.empty());
}

TEST(Detect, OneNodeAndNoneAreInconclusive) {
  FleetModel model;
  model.nodes = 1;
  const Report one = analyze(simulate(model, 1));
  EXPECT_EQ(one.verdict, Verdict::inconclusive);
  EXPECT_TRUE(one.findings.empty());
  EXPECT_TRUE(one.notes.empty());
  EXPECT_EQ(one.metrics.size(), 2U);

  const Report none = analyze(RunData{});
  EXPECT_EQ(none.verdict, Verdict::inconclusive);
  EXPECT_TRUE(none.metrics.empty());
}

TEST(Detect, AmongThreeNodesLinksAreNamedWithACaveat) {
  FleetModel model;
  model.nodes = 3;
  model.sends = model.receives = {{1, 10}};
  const Report report = analyze(simulate(model, 1));
  ASSERT_EQ(report.findings.size(), 2U);
  EXPECT_EQ(report.findings[0].subject.kind, "link");
  EXPECT_EQ(report.findings[0].status, FindingStatus::tentative);
  EXPECT_NE(std::find(report.notes.begin(), report.notes.end(),
                      "mpi_pairs: with 3 nodes a slow node cannot be told from slow links"),
            report.notes.end());
}

TEST(Detect, MissingPassesAndNodesDoNotMatter) {
  RunData run = simulate(slow_host(6, 4), 1);
  std::erase_if(run.samples, [](const SampleRecord& sample) {
    return (sample.node == 2 && sample.pass > 1) || (sample.node == 4 && sample.step == 0);
  });
  const Report report = analyze(run);
  ASSERT_EQ(slow_count(report), 1);
  EXPECT_EQ(place(report.findings.back()), "node2/host");
  EXPECT_EQ(report.findings.front().direction, Direction::missing);
  EXPECT_EQ(place(report.findings.front()), "node4/host");
  ASSERT_EQ(report.not_measured.size(), 1U);
  EXPECT_EQ(report.not_measured[0].what, "cpu_gemm on node4");
}

TEST(Detect, TheMinimumEffectIsAGate) {
  const RunData run = simulate(slow_host(16, 1.5), 1);
  EXPECT_EQ(slow_count(analyze(run)), 1);
  DetectOptions options;
  options.min_effect = {{Layer::host, 0.8}};
  EXPECT_EQ(slow_count(analyze(run, options)), 0);
}

TEST(Detect, EqualRunsGiveEqualReports) {
  const RunData run = simulate(two_faults(true, true, true), 9);
  EXPECT_EQ(to_json(analyze(run)), to_json(analyze(run)));
}

TEST(Detect, WhatIsNotToBeJudgedIsSummarisedAndNothingMore) {
  RunData run = simulate({}, 1);
  const auto before = analyze(run);
  StepRecord step = host_step(static_cast<int>(run.steps.size()), "idle", "1");
  step.metrics[0].judged = false;
  step.metrics.resize(1);
  run.steps.push_back(step);
  for (int node = 0; node < 4; ++node) {
    run.samples.push_back(sample_of(step.step, 0, node, {node == 3 ? 1.0 : 0.0}));
  }
  const auto report = analyze(run);
  EXPECT_EQ(report.verdict, before.verdict);
  EXPECT_EQ(report.findings.size(), before.findings.size());
  ASSERT_EQ(report.metrics.size(), before.metrics.size() + 1);
  const auto& summary = report.metrics.back();
  EXPECT_EQ(summary.subjects, 4);
  EXPECT_EQ(summary.median, 0);
  EXPECT_EQ(summary.highest, 1);
  EXPECT_FALSE(summary.smallest_visible_pct);
}

TEST(Detect, CountsDevicesOfNodesAndSaysWhatTheyAre) {
  RunData run = simulate({}, 1);
  StepRecord step = host_step(static_cast<int>(run.steps.size()), "sm_clock", "Hz");
  step.metrics[0].judged = false;
  step.metrics[0].subject = SubjectKind::device;
  step.metrics.resize(1);
  run.steps.push_back(step);
  for (const char* device : {"gpu0", "gpu1"}) {
    run.samples.push_back(sample_of(step.step, 0, 0, {1.0}));
    run.samples.back().device = device;
  }
  run.header.nodes[0].inventory["cuda"] = Json::parse(
      R"({"gpus": [{"model": "A"}, {"model": "B"}, {"model": "B"}, {"model": 7}, "rubbish"]})");
  run.header.nodes[1].inventory["cuda"] = "rubbish";
  const auto report = analyze(run);
  EXPECT_EQ(report.metrics.back().subjects, 2);
  EXPECT_EQ(report.gpus, (std::map<std::string, int>{{"A", 1}, {"B", 2}}));
}

TEST(Detect, SummarisesAlsoWhatIsNotRanked) {
  RunData run = simulate(FleetModel{}, 1);
  StepRecord group = host_step(3, "mpi_collectives", "s");
  group.metrics[0].subject = SubjectKind::group;
  group.metrics[0].better = Better::lower;
  group.metrics[0].layer = Layer::network;
  run.steps.push_back(group);
  for (int node = 0; node < 4; ++node) {
    run.samples.push_back(sample_of(3, 0, node, {1e-3 * (node == 3 ? 50 : 1)}));
  }
  const Report report = analyze(run);
  EXPECT_EQ(slow_count(report), 0) << "a group names nobody";
  const auto found = std::find_if(report.metrics.begin(), report.metrics.end(),
                                  [](const auto& m) { return m.metric == "mpi_collectives.rate"; });
  ASSERT_NE(found, report.metrics.end());
  EXPECT_EQ(found->subject, SubjectKind::group);
  EXPECT_EQ(found->subjects, 1);
  EXPECT_FALSE(found->smallest_visible_pct);
  EXPECT_NEAR(found->median, 1e-3, 1e-9);
}

TEST(Detect, SaysWhoHasNoPeers) {
  RunData run = simulate(slow_host(12, 1), 1);
  for (const int node : {2, 7}) {
    run.header.nodes[node].cohort = "old";
  }
  for (NodeInfo& node : run.header.nodes) {
    node.cohort = node.cohort.empty() ? "new" : node.cohort;
  }
  const Report report = analyze(run);
  ASSERT_EQ(report.not_measured.size(), 2U);
  EXPECT_EQ(report.not_measured[0].what, "node2 compared with others");
  EXPECT_EQ(report.not_measured[0].reason,
            "fewer than three of its kind gave values of cpu_gemm.rate and 1 more");
}

// A layer's average of what pairs tell of nodes has no metric of nodes beside it.
TEST(DetectFleet, NothingButPairsIsEnough) {
  for (const double times : {1.0, 1.5}) {
    FleetModel model;
    model.nodes = 12;
    model.sends = {{3, times}};
    RunData run = simulate(model, 5);
    std::erase_if(run.samples, [](const SampleRecord& sample) { return sample.step != 2; });
    run.steps = {run.steps[2]};
    run.steps[0].step = 0;
    for (SampleRecord& sample : run.samples) {
      sample.step = 0;
    }
    const Report report = analyze(run);
    std::vector<std::string> found;
    for (const Finding& finding : report.findings) {
      found.push_back(place(finding));
    }
    EXPECT_EQ(found,
              times > 1 ? std::vector<std::string>{"node3/network"} : std::vector<std::string>());
  }
}

// What has no direction (here the latency) is as slow for the one that is.
TEST(DetectFleet, ALinkThatIsSlowOneWayIsNamedWithItsDirection) {
  for (const bool both_ways : {false, true}) {
    FleetModel model;
    model.nodes = 12;
    model.links[{7, 2}] = 2;
    if (both_ways) {
      model.links[{2, 7}] = 2;
    }
    RunData run = simulate(model, 5);
    for (SampleRecord& sample : run.samples) {
      if (sample.peer && sample.node + *sample.peer == 9 &&
          std::abs(sample.node - *sample.peer) == 5 && sample.values[1]) {
        *sample.values[1] *= 3;
      }
    }
    const Report report = analyze(run);
    ASSERT_EQ(slow_count(report), 1);
    EXPECT_EQ(describe(report.findings[0].subject), both_ways ? "node2 - node7" : "node7 -> node2");
    EXPECT_EQ(report.findings[0].metrics.size(), both_ways ? 3U : 2U);
  }
}

}  // namespace
}  // namespace fleetbench
