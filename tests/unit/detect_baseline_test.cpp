#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "harness/detect/baseline_build.hpp"
#include "harness/detect/baseline_inventory.hpp"
#include "harness/detect/baseline_view.hpp"
#include "harness/detect/detect.hpp"
#include "results-schema/check.hpp"
#include "tests/unit/detect_simulation.hpp"

namespace fleetbench {
namespace {

using detect::BaselineView;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kRate = 100e9;

// log slowness of a node in a pass of a run
using Slowness = std::function<double(int node, int pass)>;

RunData run_of(const std::string& id, int nodes, int passes, const Slowness& slowness) {
  RunData run;
  run.header = header_of(nodes);
  run.header.run_id = id;
  run.header.created = id;
  run.steps = {host_step(0, "gemm", "FLOP/s")};
  for (int pass = 0; pass < passes; ++pass) {
    for (int node = 0; node < nodes; ++node) {
      run.samples.push_back(sample_of(0, pass, node, {kRate * std::exp(-slowness(node, pass))}));
    }
  }
  run.end = clean_end();
  return run;
}

RunData steady_run(const std::string& id, int nodes = 5) {
  return run_of(id, nodes, 3, [](int node, int /*pass*/) { return 0.01 * node; });
}

BuiltBaseline built_from(const std::vector<RunData>& runs, std::vector<Report> reports = {}) {
  reports.resize(runs.size());
  std::vector<BaselineRun> judged;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    judged.push_back({&runs[i], &reports[i]});
  }
  return build_baseline(judged, "2026-05-04T00:00:00Z");
}

Finding finding_of(const std::string& node, Direction direction, FindingStatus status) {
  Finding finding;
  finding.subject.kind = "node";
  finding.subject.node = node;
  finding.direction = direction;
  finding.status = status;
  finding.slowdown_pct = 14;
  return finding;
}

std::vector<std::string> nodes_in(const Baseline& baseline) {
  std::vector<std::string> nodes;
  for (const BaselineSubject& subject : baseline.subjects) {
    nodes.push_back(subject.node);
  }
  return nodes;
}

TEST(BuildBaseline, KeepsTheLevelOfEachNodeAndTheMedian) {
  const Baseline baseline = built_from({steady_run("r1")}).baseline;
  EXPECT_EQ(baseline.created, "2026-05-04T00:00:00Z");
  EXPECT_THAT(baseline.runs, ElementsAre("r1"));
  ASSERT_EQ(baseline.metrics.size(), 1U);
  const BaselineMetric& metric = baseline.metrics[0];
  EXPECT_EQ(metric.key.metric, "gemm.rate");
  EXPECT_EQ(metric.key.method, method_of(host_step(0, "gemm", "FLOP/s")));
  EXPECT_EQ(metric.unit, "FLOP/s");
  EXPECT_EQ(metric.subjects, 5);
  EXPECT_EQ(metric.runs, 1);
  EXPECT_NEAR(metric.median / (kRate * std::exp(-0.02)), 1, 1e-12);
  EXPECT_NEAR(metric.between, 1.873 * 0.01, 1e-9);  // MAD of 0 .. 4, factor of five
  EXPECT_NEAR(metric.within, 0, 1e-12);
  EXPECT_EQ(metric.run_to_run, 0);
  EXPECT_EQ(metric.degrees, 0);
  ASSERT_EQ(baseline.subjects.size(), 5U);
  EXPECT_NEAR(baseline.subjects[3].value / (kRate * std::exp(-0.03)), 1, 1e-12);
}

TEST(BuildBaseline, LowerIsBetterIsKeptInItsUnit) {
  RunData run = steady_run("r1");
  run.steps[0].metrics[0].better = Better::lower;
  const Baseline baseline = built_from({run}).baseline;
  EXPECT_NEAR(baseline.metrics[0].median / (kRate * std::exp(-0.02)), 1, 1e-12);
  EXPECT_NEAR(baseline.subjects[4].value / (kRate * std::exp(-0.04)), 1, 1e-12);
}

// Nodes of their own level, runs with a shift of the whole fleet, noise of node and run, of passes.
std::vector<RunData> noisy_runs(int nodes, int runs, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> own(static_cast<std::size_t>(nodes));
  std::ranges::generate(own, [&] { return 0.02 * normal(random); });
  std::vector<RunData> result;
  for (int r = 0; r < runs; ++r) {
    std::vector<double> now = own;
    for (double& level : now) {
      level += 0.015 * normal(random);
    }
    result.push_back(run_of("r" + std::to_string(r), nodes, 9, [&](int node, int /*pass*/) {
      return now[static_cast<std::size_t>(node)] + 0.01 * normal(random);
    }));
  }
  return result;
}

TEST(BuildBaseline, FindsTheSpreadsThatRunsWereDrawnWith) {
  const Baseline baseline = built_from(noisy_runs(64, 6, 7)).baseline;
  const BaselineMetric& metric = baseline.metrics.at(0);
  const double of_median = 1.2533 * 0.01 / 3;  // what nine passes leave of their noise
  EXPECT_NEAR(metric.between / std::hypot(0.02, 0.015, of_median), 1, 0.1);
  EXPECT_NEAR(metric.within / 0.01, 1, 0.1);
  EXPECT_NEAR(metric.run_to_run / std::hypot(0.015, of_median), 1, 0.1);
  EXPECT_GT(metric.degrees, 8);
  EXPECT_EQ(metric.subjects, 64);
  EXPECT_EQ(metric.runs, 6);
}

TEST(BuildBaseline, SeesLongTails) {
  std::mt19937 random(11);
  std::student_t_distribution<double> student(3);
  std::vector<double> own(300);
  std::ranges::generate(own, [&] { return 0.01 * student(random); });
  const Baseline baseline =
      built_from({run_of("r1", 300, 3, [&](int node, int) { return own[node]; })}).baseline;
  EXPECT_LT(baseline.metrics.at(0).degrees, 5);
  EXPECT_GE(baseline.metrics.at(0).degrees, 3);
}

// A shift of all nodes from run to run is no spread of theirs; nor is one from pass to pass.
TEST(BuildBaseline, WhatAllNodesShareIsNoSpreadBetweenThem) {
  const auto shifted = [](const std::string& id, double shift) {
    return run_of(id, 5, 3, [shift](int node, int pass) {
      return shift + 0.01 * node + (pass == 1 ? 0.3 : 0.0);
    });
  };
  const BaselineMetric metric =
      built_from({shifted("r1", 0), shifted("r2", 0.1)}).baseline.metrics.at(0);
  EXPECT_NEAR(metric.between, 1.873 * 0.01, 1e-9);
  EXPECT_NEAR(metric.within, 0, 1e-9);
  EXPECT_NEAR(metric.run_to_run, 1.04836 * 0.1, 1e-9);
}

TEST(BuildBaseline, NodesWithFindingsAreLeftOutOfThatRun) {
  Report sick;
  sick.findings = {finding_of("node1", Direction::slow, FindingStatus::suspect),
                   finding_of("node2", Direction::wrong, FindingStatus::confirmed),
                   finding_of("node3", Direction::missing, FindingStatus::confirmed),
                   finding_of("node4", Direction::slow, FindingStatus::tentative),
                   finding_of("node5", Direction::slow, FindingStatus::not_reproduced),
                   finding_of("node6", Direction::fast, FindingStatus::suspect)};
  sick.findings[0].subject.kind = "device";
  sick.findings[0].subject.device = "gpu1";
  Finding link;
  link.subject.kind = "link";
  link.subject.a = "node7";
  link.subject.b = "node0";
  sick.findings.push_back(link);
  const BuiltBaseline one = built_from({steady_run("r1", 8)}, {sick});
  EXPECT_THAT(nodes_in(one.baseline), ElementsAre("node0", "node4", "node5", "node6", "node7"));
  EXPECT_EQ(one.baseline.metrics.at(0).subjects, 5);
  ASSERT_EQ(one.doubts.size(), 4U);
  EXPECT_EQ(one.doubts[0].run_id, "r1");
  EXPECT_EQ(one.doubts[0].node, "node1");
  EXPECT_EQ(one.doubts[0].reason, "slow in host, gpu1: 14 % slower than its peers (suspect)");
  EXPECT_EQ(one.doubts[1].reason, "wrong in host (confirmed)");
  EXPECT_TRUE(one.doubts[2].excluded);
  EXPECT_EQ(one.doubts[3].node, "node4");
  EXPECT_FALSE(one.doubts[3].excluded);

  const Baseline two = built_from({steady_run("r1", 8), steady_run("r2", 8)}, {sick, {}}).baseline;
  ASSERT_EQ(two.subjects.size(), 8U);
  EXPECT_EQ(two.subjects[0].runs, 2);
  EXPECT_EQ(two.subjects[1].runs, 1);
}

TEST(BuildBaseline, AFaultThatTheDetectorFindsDoesNotBecomeNormal) {
  FleetModel model;
  model.nodes = 16;
  model.host = {{5, 1.5}};
  const RunData run = simulate(model, 3);
  const BuiltBaseline built = built_from({run}, {analyze(run)});
  EXPECT_THAT(nodes_in(built.baseline), testing::Not(testing::Contains("node5")));
  EXPECT_THAT(nodes_in(built.baseline), testing::Contains("node4"));
  ASSERT_FALSE(built.doubts.empty());
  EXPECT_EQ(built.doubts[0].node, "node5");
}

TEST(BuildBaseline, OtherMethodsAreNotMixed) {
  std::vector<RunData> runs = {steady_run("r1"), steady_run("r2"), steady_run("r3"),
                               steady_run("r4")};
  runs[0].steps[0].params = {{"n", 4}};
  runs[1].steps[0].params = {{"n", 4.0}};
  runs[2].steps[0].params = {{"n", 8}};
  runs[3].steps[0].params = {{"n", 8}};
  runs[3].steps[0].method = 2;
  const Baseline baseline = built_from(runs).baseline;
  std::vector<int> of_runs;
  for (const BaselineMetric& metric : baseline.metrics) {
    EXPECT_EQ(metric.key.metric, "gemm.rate");
    of_runs.push_back(metric.runs);
  }
  EXPECT_THAT(of_runs, testing::UnorderedElementsAre(2, 1, 1));
  EXPECT_EQ(baseline.subjects.size(), 15U);
}

TEST(BuildBaseline, KeepsOnlyWhatIsOfANodeOrDeviceAndJudged) {
  const std::vector<std::function<void(RunData&)>> changes = {
      [](RunData& run) { run.steps[0].metrics[0].judged = false; },
      [](RunData& run) { run.steps[0].metrics[0].covariate = true; },
      [](RunData& run) { run.steps[0].metrics[0].subject = SubjectKind::group; },
      [](RunData& run) { run.steps[0].metrics[0].subject = SubjectKind::link; },
      [](RunData& run) { run.steps[0].of_group = true; },
      [](RunData& run) {
        for (SampleRecord& sample : run.samples) {
          sample.peer = sample.node == 0 ? 1 : 0;
        }
      },
      [](RunData& run) {
        for (SampleRecord& sample : run.samples) {
          sample.confirms = 0;
        }
      },
      [](RunData& run) {
        for (SampleRecord& sample : run.samples) {
          sample.values[0] = sample.node == 0   ? std::nullopt
                             : sample.node == 1 ? std::optional(0.0)
                             : sample.node == 2 ? std::optional(-1.0)
                                                : std::optional(HUGE_VAL);
        }
      },
      [](RunData& run) { run.samples.clear(); }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    RunData run = steady_run("r1");
    changes[i](run);
    const Baseline baseline = built_from({run}).baseline;
    EXPECT_THAT(baseline.metrics, IsEmpty()) << i;
    EXPECT_THAT(baseline.subjects, IsEmpty()) << i;
  }
}

TEST(BuildBaseline, DevicesHaveLevelsOfTheirOwn) {
  RunData run = steady_run("r1", 2);
  run.steps[0].metrics[0].subject = SubjectKind::device;
  for (SampleRecord& sample : run.samples) {
    sample.device = "gpu0";
  }
  for (SampleRecord sample : std::vector<SampleRecord>(run.samples)) {
    sample.device = "gpu1";
    *sample.values[0] *= 2;
    run.samples.push_back(sample);
  }
  const Baseline baseline = built_from({run}).baseline;
  EXPECT_EQ(baseline.metrics.at(0).subjects, 4);
  const BaselineView view(baseline);
  const BaselineKey& key = baseline.metrics[0].key;
  EXPECT_NEAR(view.subject(key, "node1", "gpu1")->value / view.subject(key, "node1", "gpu0")->value,
              2, 1e-12);
  EXPECT_EQ(view.subject(key, "node1", ""), nullptr);
}

TEST(BuildBaseline, DoesNotDependOnTheOrderOfRuns) {
  std::vector<RunData> runs = noisy_runs(8, 3, 5);
  const Json forth = to_json(built_from(runs).baseline);
  std::ranges::reverse(runs);
  EXPECT_EQ(to_json(built_from(runs).baseline), forth);
}

TEST(BuildBaseline, ANodeBelongsToTheCohortThatItWasOfLast) {
  RunData before = steady_run("r1");
  RunData after = run_of("r2", 5, 3, [](int node, int) { return node == 0 ? -1 : 0.01 * node; });
  for (NodeInfo& node : before.header.nodes) {
    node.cohort = "old";
  }
  for (NodeInfo& node : after.header.nodes) {
    node.cohort = node.index == 0 ? "new" : "old";
  }
  const Baseline baseline = built_from({after, before}).baseline;
  const BaselineView view(baseline);
  const BaselineKey& key = baseline.metrics.at(0).key;
  EXPECT_EQ(view.metric(key, "old")->subjects, 5);
  EXPECT_EQ(view.metric(key, "new")->subjects, 1);
  EXPECT_EQ(view.metric(key, "new")->runs, 1);
  EXPECT_EQ(view.metric(key, ""), nullptr);
  const BaselineSubject* node0 = view.subject(key, "node0", "");
  EXPECT_EQ(node0->cohort, "new");
  EXPECT_EQ(node0->runs, 1);
  EXPECT_NEAR(node0->value / (kRate * std::exp(1)), 1, 1e-12);
  EXPECT_EQ(view.subject(key, "node1", "")->runs, 2);
}

TEST(BuildBaseline, RefusesRunsThatDisagreeAboutTheUnit) {
  RunData run = steady_run("r2");
  run.steps[0].metrics[0].unit = "GFLOP/s";
  try {
    built_from({steady_run("r1"), run});
    FAIL() << "nothing was thrown";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("gemm.rate is in \"FLOP/s\" (higher is better) in run r1 and in "
                          "\"GFLOP/s\" (higher is better) in run r2"));
  }
}

TEST(BaselineView, MeasuredAndImportedSamplesDoNotMeet) {
  RunData imported = steady_run("r1");
  imported.imported = true;
  const RunData measured = steady_run("r2");
  const Baseline of_imported = built_from({imported}).baseline;
  const Baseline of_measured = built_from({measured}).baseline;
  const auto key_in = [](const RunData& run) {
    return key_of(run, run.steps[0], run.steps[0].metrics[0]);
  };
  EXPECT_NE(BaselineView(of_imported).metric(key_in(imported), ""), nullptr);
  EXPECT_NE(BaselineView(of_measured).metric(key_in(measured), ""), nullptr);
  EXPECT_EQ(BaselineView(of_imported).metric(key_in(measured), ""), nullptr);
  EXPECT_EQ(BaselineView(of_measured).subject(key_in(imported), "node1", ""), nullptr);
}

Json inventory_with(const std::string& kernel, double memory_bytes) {
  return {{"hostname", "n1"},
          {"kernel", {{"release", kernel}}},
          {"cpu", {{"cores", 8}, {"cpu_quota_cores", nullptr}, {"flags", {"avx", "fma"}}}},
          {"memory", {{"total_bytes", memory_bytes}, {"free_bytes", 17}}},
          {"nics", {{{"name", "eth0"}, {"mtu", 1500}}, {{"name", "eth1"}, {"mtu", 9000}}}}};
}

std::vector<NodeInfo> nodes_with(const std::vector<Json>& inventories) {
  std::vector<NodeInfo> nodes;
  for (const Json& inventory : inventories) {
    NodeInfo node;
    node.name = "node" + std::to_string(nodes.size());
    node.inventory = inventory;
    nodes.push_back(node);
  }
  return nodes;
}

TEST(BaselineInventory, IsFlatAndLeavesOutWhatDiffersByNature) {
  EXPECT_THAT(
      detect::flat_inventory(inventory_with("6.1", 64e9)),
      ElementsAre(testing::Pair("cpu.cores", "8"), testing::Pair("cpu.cpu_quota_cores", "none"),
                  testing::Pair("cpu.flags", "[\"avx\",\"fma\"]"),
                  testing::Pair("kernel.release", "6.1"),
                  testing::Pair("memory.total_bytes", "64000000000"),
                  testing::Pair("nics[eth0]", "present"), testing::Pair("nics[eth0].mtu", "1500"),
                  testing::Pair("nics[eth1]", "present"), testing::Pair("nics[eth1].mtu", "9000")));
  EXPECT_THAT(detect::flat_inventory(Json::object()), IsEmpty());
}

TEST(BaselineInventory, IsWhatMostHealthyNodesHadLast) {
  RunData first = steady_run("r1", 5);
  RunData second = steady_run("r2", 5);
  for (int i = 0; i < 5; ++i) {
    first.header.nodes[i].inventory = inventory_with("6.1", 64e9);
    second.header.nodes[i].inventory = inventory_with(i < 3 ? "6.2" : "6.1", 64e9 + 2e9 * i);
  }
  const auto of_most = built_from({first, second}).baseline.inventory.at("");
  EXPECT_EQ(of_most.at("kernel.release"), "6.2");
  EXPECT_FALSE(of_most.contains("memory.total_bytes"));  // no two have the same
  Report sick;
  sick.findings = {finding_of("node0", Direction::slow, FindingStatus::confirmed)};
  const auto healthy = built_from({first, second}, {{}, sick}).baseline.inventory.at("");
  EXPECT_EQ(healthy.at("kernel.release"), "6.1");
}

TEST(InventoryChanges, NamesWhatMostNodesHaveOtherwise) {
  Baseline baseline;
  baseline.inventory[""] = detect::flat_inventory(inventory_with("6.1", 64e9));
  Json changed = inventory_with("6.2", 64.3e9);
  changed["cpu"]["cpu_quota_cores"] = 0.5;
  changed["nics"].erase(1);
  changed["extra"] = "new";
  const Json same = inventory_with("6.1", 64e9);
  EXPECT_THAT(detect::inventory_changes(baseline, "", nodes_with({changed, changed, same})),
              ElementsAre("cpu.cpu_quota_cores is 0.5, in the baseline none",
                          "kernel.release is 6.2, in the baseline 6.1",
                          "nics[eth1] is missing, in the baseline present",
                          "nics[eth1].mtu is missing, in the baseline 9000"));
  EXPECT_THAT(detect::inventory_changes(baseline, "", nodes_with({changed, same, same})),
              IsEmpty());
  EXPECT_THAT(detect::inventory_changes(baseline, "", nodes_with({changed, same})), IsEmpty());
  EXPECT_THAT(detect::inventory_changes(baseline, "other", nodes_with({changed})), IsEmpty());
  EXPECT_THAT(detect::inventory_changes(baseline, "", nodes_with({Json(), Json()})), IsEmpty());
}

TEST(InventoryChanges, AreAtMostTwenty) {
  Baseline baseline;
  for (int i = 10; i < 50; ++i) {
    baseline.inventory[""]["key" + std::to_string(i)] = "a";
  }
  const auto changes = detect::inventory_changes(baseline, "", nodes_with({Json{{"key10", "b"}}}));
  ASSERT_EQ(changes.size(), detect::kMostInventoryChanges);
  EXPECT_EQ(changes.front(), "key10 is b, in the baseline a");
  EXPECT_EQ(changes.back(), "key29 is missing, in the baseline a");
}

}  // namespace
}  // namespace fleetbench
