// Collectives in re-shuffled groups: they name nobody, and what spoils one group is not told of
// all.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/detect/detect.hpp"
#include "tests/unit/detect_simulation.hpp"

namespace fleetbench {
namespace {

constexpr int kNodes = 16;
constexpr int kGroupStep = 3;
constexpr int kSlowNode = 5;

std::vector<int> group_of(int node, int round) {
  std::vector<int> group;
  for (int member = 0; member < kNodes; ++member) {
    const bool together = round == 0 ? member / 8 == node / 8 : member % 2 == node % 2;
    if (together) {
      group.push_back(member);
    }
  }
  return group;
}

// A quiet fleet with a step of two rounds of two groups; groups with kSlowNode take `slow` times as
// long.
RunData run_with_groups(double slow) {
  FleetModel model;
  model.nodes = kNodes;
  model.between = model.within = 0.003;
  model.bandwidth_noise = model.latency_noise = 0.005;
  RunData run = simulate(model, 4);
  StepRecord step = host_step(kGroupStep, "groups", "B/s");
  step.metrics[0].subject = SubjectKind::group;
  step.metrics[0].layer = Layer::network;
  run.steps.push_back(step);
  for (int pass = 0; pass < 5; ++pass) {
    for (int round = 0; round < 2; ++round) {
      for (int node = 0; node < kNodes; ++node) {
        const auto group = group_of(node, round);
        const bool is_slow = std::ranges::count(group, kSlowNode) > 0;
        SampleRecord sample =
            sample_of(kGroupStep, pass, node, {1e9 / (is_slow ? slow : 1) * (1 + 1e-4 * node)});
        sample.slot = 1000 + 2 * pass + round;
        sample.group = group;
        run.samples.push_back(sample);
      }
    }
  }
  return run;
}

template <typename Chosen>
void spoil(RunData& run, Status status, const std::string& reason, Chosen chosen) {
  for (SampleRecord& sample : run.samples) {
    if (sample.step == kGroupStep && chosen(sample)) {
      sample.status = status;
      sample.reason = reason;
      sample.values.clear();
    }
  }
}

bool is_in_first_group(const SampleRecord& sample) {
  return sample.slot == 1000 && sample.node < 8;
}

TEST(DetectGroups, AreSummarisedAsGroupsAndAlarmNobody) {
  const RunData run = run_with_groups(4);
  const Report report = analyze(run);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.verdict, Verdict::pass);
  const auto found =
      std::ranges::find(report.metrics, std::string("groups.rate"), &MetricSummary::metric);
  ASSERT_NE(found, report.metrics.end());
  EXPECT_EQ(found->subject, SubjectKind::group);
  EXPECT_EQ(found->subjects, 4);
  EXPECT_NEAR(found->lowest, 0.25e9, 1e6);
  EXPECT_NEAR(found->highest, 1e9, 2e6);
  EXPECT_FALSE(found->smallest_visible_pct);
  EXPECT_TRUE(report.not_measured.empty());
}

TEST(DetectGroups, AloneTheyAreNotEnoughToSayWhoIsSlow) {
  RunData run = run_with_groups(4);
  std::erase_if(run.samples, [](const SampleRecord& sample) { return sample.step == 2; });
  run.omissions.push_back({"mpi_pairs", std::nullopt, "left out"});
  const Report report = analyze(run);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_EQ(std::ranges::count(report.verdict_reasons,
                               "network: only groups were measured, which do not tell who of them "
                               "is slow"),
            1);
}

TEST(DetectGroups, OneThatWasLateIsOneFindingOfTheGroup) {
  RunData run = run_with_groups(1);
  spoil(run, Status::timeout, "no answer in 10 s", is_in_first_group);
  const Report late = analyze(run);
  // Eight of sixteen nodes are too many to blame, and a group does not say which.
  EXPECT_TRUE(late.findings.empty());
  EXPECT_EQ(late.verdict, Verdict::inconclusive);

  run = run_with_groups(1);
  spoil(run, Status::timeout, "no answer in 10 s",
        [](const SampleRecord& sample) { return is_in_first_group(sample) && sample.node < 3; });
  const Report few = analyze(run);
  ASSERT_EQ(few.findings.size(), 1U);
  EXPECT_EQ(few.findings[0].direction, Direction::missing);
  EXPECT_EQ(few.findings[0].subject.kind, "group");
  EXPECT_EQ(few.findings[0].subject.nodes, (std::vector<std::string>{"node0", "node1", "node2"}));
}

TEST(DetectGroups, WhoFailedIsBlamedAndNotWhoWaitedForIt) {
  RunData run = run_with_groups(1);
  spoil(run, Status::timeout, "no answer in 10 s", is_in_first_group);
  spoil(run, Status::failed, "out of memory",
        [](const SampleRecord& sample) { return sample.slot == 1000 && sample.node == 6; });
  const Report report = analyze(run);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(describe(report.findings[0].subject), "node6");
  EXPECT_EQ(report.findings[0].evidence[0].text, "groups failed in 1 of 5 passes: out of memory");
}

TEST(DetectGroups, SoItIsWhereEachNodeHasAValueOfItsOwn) {
  RunData run = run_with_groups(1);
  run.steps[kGroupStep].of_group = true;
  for (MetricInfo& metric : run.steps[kGroupStep].metrics) {
    metric.subject = SubjectKind::node;
  }
  spoil(run, Status::timeout, "no answer in 10 s", is_in_first_group);
  spoil(run, Status::failed, "out of memory",
        [](const SampleRecord& sample) { return sample.slot == 1000 && sample.node == 6; });
  const auto blamed = [](const Report& report) {
    std::vector<std::string> nodes;
    for (const Finding& finding : report.findings) {
      if (finding.direction == Direction::missing) {
        nodes.push_back(describe(finding.subject));
      }
    }
    return nodes;
  };
  EXPECT_EQ(blamed(analyze(run)), std::vector<std::string>{"node6"});
  run.steps[kGroupStep].of_group = false;  // then nobody is, since too many are concerned
  EXPECT_TRUE(blamed(analyze(run)).empty());
}

TEST(DetectGroups, ThoseWhoWaitedForALostNodeAreNotBlamed) {
  RunData run = run_with_groups(1);
  std::erase_if(run.samples, [](const SampleRecord& sample) {
    return sample.step == kGroupStep && sample.node == 6 && sample.slot >= 1000;
  });
  spoil(run, Status::timeout, "no answer in 10 s", is_in_first_group);
  run.losses.push_back({6, 6, 1000, "groups", "measure", "silent"});
  const Report report = analyze(run);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(describe(report.findings[0].subject), "node6");
  EXPECT_EQ(report.lost_nodes, std::vector<std::string>{"node6"});
}

TEST(DetectGroups, AWrongResultIsOfAllWhoTookPart) {
  RunData run = run_with_groups(1);
  spoil(run, Status::wrong, "element 1 is 5", is_in_first_group);
  const Report report = analyze(run);
  EXPECT_EQ(report.verdict, Verdict::fail);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].direction, Direction::wrong);
  EXPECT_EQ(report.findings[0].subject.nodes.size(), 8U);
}

}  // namespace
}  // namespace fleetbench
