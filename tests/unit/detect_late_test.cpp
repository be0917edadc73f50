// Stamps of collectives: who enters late, and what is told of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "harness/detect/late_members.hpp"
#include "tests/unit/detect_simulation.hpp"

namespace fleetbench::detect {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr int kNodes = 8;
constexpr int kPasses = 5;
constexpr double kTransfer_s = 2e-3;
constexpr double kUncertainty_s = 10e-6;

using Lateness = std::function<double(int pass, int node)>;

Lateness only(int node, double lateness_s) {
  return [=](int /*pass*/, int member) { return member == node ? lateness_s : 0.0; };
}

// Two collectives of all nodes, in which the last to enter is waited for.
RunData run_with(const Lateness& lateness, const std::string& collective = "all_reduce") {
  RunData run;
  run.header = header_of(kNodes);
  StepRecord step = host_step(0, "mpi_collectives", "B/s");
  step.metrics.resize(1);
  step.metrics[0].name = collective + ".busbw.1M";
  step.metrics[0].subject = SubjectKind::group;
  step.metrics[0].layer = Layer::network;
  step.metrics.push_back(step.metrics[0]);
  step.metrics[1].name = collective + ".busbw.4M";
  run.steps = {step};
  std::mt19937_64 generator(3);
  std::normal_distribution<double> jitter_s(0, 2e-6);
  for (int pass = 0; pass < kPasses; ++pass) {
    std::vector<double> enter_s;
    for (int node = 0; node < kNodes; ++node) {
      enter_s.push_back(0.5 + lateness(pass, node) + jitter_s(generator));
    }
    const double last_s = *std::ranges::max_element(enter_s);
    for (int node = 0; node < kNodes; ++node) {
      SampleRecord sample = sample_of(0, pass, node, {1e9, 1e9});
      sample.slot = pass;
      sample.peer.reset();
      const double leave_s = last_s + kTransfer_s;
      sample.detail = {{"enter_s", {enter_s[node], enter_s[node] + 1}},
                       {"leave_s", {leave_s, leave_s + 1}},
                       {"clock_uncertainty_s", node == 0 ? 0 : kUncertainty_s}};
      run.samples.push_back(sample);
    }
  }
  run.end = clean_end();
  return run;
}

std::vector<int> late_nodes(const RunData& run) {
  std::vector<int> nodes;
  for (const LateMember& member : members_of_collectives(run)) {
    if (member.is_late()) {
      nodes.push_back(member.node);
    }
  }
  return nodes;
}

Finding slow_node(const std::string& node) {
  Finding finding;
  finding.subject.kind = "node";
  finding.subject.node = node;
  finding.layer = Layer::network;
  finding.metrics = {{"mpi_collectives.all_reduce.busbw.1M", "B/s", 1e9, 2e9, 100}};
  return finding;
}

TEST(LateMembers, AreThoseThatTheOthersWaitFor) {
  const RunData run = run_with(only(3, 5e-3));
  EXPECT_THAT(late_nodes(run), ElementsAre(3));
  const LateMember member = members_of_collectives(run).at(3);
  EXPECT_EQ(member.late, 2 * kPasses);
  EXPECT_EQ(member.calls, 2 * kPasses);
  EXPECT_NEAR(member.lateness_s, 5e-3, 1e-5);
  EXPECT_NEAR(member.uncertainty_s, 2 * kUncertainty_s, 1e-9);
}

TEST(LateMembers, AreNoneWhereItDoesNotMatterOrCannotBeTold) {
  EXPECT_THAT(late_nodes(run_with(only(3, 0))), IsEmpty());
  // Less than a tenth of the transfer.
  EXPECT_THAT(late_nodes(run_with(only(3, 0.15e-3))), IsEmpty());
  // Less than the clocks may be wrong.
  RunData unsure = run_with(only(3, 5e-3));
  for (SampleRecord& sample : unsure.samples) {
    sample.detail["clock_uncertainty_s"] = 4e-3;
  }
  EXPECT_THAT(late_nodes(unsure), IsEmpty());
  // Once, in five passes.
  EXPECT_THAT(
      late_nodes(run_with([](int pass, int node) { return pass == 2 && node == 3 ? 5e-3 : 0.0; })),
      IsEmpty());
  // As others are: a chain in which each is a little later than the one before.
  EXPECT_THAT(late_nodes(run_with([](int /*pass*/, int node) { return node * 1e-3; })), IsEmpty());
}

TEST(LateMembers, OfCollectivesThatMayEndBeforeAllHaveComeAreNotLookedAt) {
  EXPECT_THAT(late_nodes(run_with(only(3, 5e-3), "broadcast")), IsEmpty());
  EXPECT_THAT(late_nodes(run_with(only(3, 5e-3), "all_to_all")), ElementsAre(3));
}

TEST(LateMembers, AreTheCauseOfAFindingAboutThem) {
  const RunData run = run_with(only(3, 5e-3));
  std::vector<Finding> findings{slow_node("node3"), slow_node("node5")};
  EXPECT_THAT(tell_late_members(run, findings), IsEmpty());
  EXPECT_EQ(findings[0].cause, "enters collectives late");
  ASSERT_THAT(findings[0].evidence, SizeIs(1));
  EXPECT_EQ(findings[0].evidence[0].text,
            "node3 enters collectives 5.0 ms after the others (mpi_collectives, 10 of 10 calls; "
            "clocks agree within 20 µs): they wait for it, whatever the network does");
  EXPECT_EQ(findings[1].cause, "");
  ASSERT_THAT(findings[1].evidence, SizeIs(1));
  EXPECT_THAT(
      findings[1].evidence[0].text,
      HasSubstr("enters collectives with the others (within 20 µs, 10 calls): it is not late"));
}

TEST(LateMembers, WithoutAFindingAreNoted) {
  const RunData run = run_with(only(3, 5e-3));
  std::vector<Finding> none;
  EXPECT_THAT(tell_late_members(run, none),
              ElementsAre(HasSubstr("node3 enters collectives 5.0 ms after the others")));
  EXPECT_THAT(analyze(run).notes, testing::Contains(HasSubstr("node3 enters collectives")));
  EXPECT_THAT(analyze(run_with(only(3, 0))).notes,
              Not(testing::Contains(HasSubstr("enters collectives"))));
}

// Each node on a clock of its own.
TEST(LateMembers, OfNodesByThemselvesAreComparedWithinEach) {
  RunData run = run_with(only(3, 0));
  for (MetricInfo& metric : run.steps[0].metrics) {
    metric.subject = SubjectKind::node;
  }
  std::vector<SampleRecord> samples;
  for (SampleRecord sample : run.samples) {
    for (int gpu = 0; gpu < 4; ++gpu) {
      const double late_s = sample.node == 5 && gpu == 2 ? 5e-3 : 0;
      sample.device = "gpu" + std::to_string(gpu);
      const double begin_s = 0.1 * sample.node;
      sample.detail["enter_s"] = {begin_s + late_s, begin_s + 1 + late_s};
      sample.detail["leave_s"] = {begin_s + 7e-3, begin_s + 1 + 7e-3};
      samples.push_back(sample);
    }
  }
  run.samples = samples;
  EXPECT_THAT(late_nodes(run), ElementsAre(5));
  std::vector<Finding> none;
  EXPECT_THAT(tell_late_members(run, none), ElementsAre(HasSubstr("node5 gpu2 enters")));
}

TEST(LateMembers, OddStampsAreHarmless) {
  for (const Json& odd : {Json(3), Json::array(), Json({nullptr, "x"}), Json({{0.5}})}) {
    RunData run = run_with(only(3, 5e-3));
    for (SampleRecord& sample : run.samples) {
      sample.detail["leave_s"] = odd;
    }
    EXPECT_THAT(members_of_collectives(run), IsEmpty());
  }
}

}  // namespace
}  // namespace fleetbench::detect
