#include "harness/plan/ramp.hpp"

#include <gmock/gmock.h>

#include <set>

namespace fleetbench::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

PlannedStep ramped(double operations_of_a_node = 0, double budget = 1e6) {
  PlannedStep step;
  step.id = "storage";
  step.probe.participants = Participants::node;
  step.passes = 2;
  step.ramp = RampLevel{"storage", 0};
  step.work = {{"operations", operations_of_a_node}};
  step.scenario.operations = budget;
  return step;
}

std::vector<MetricInfo> metrics() {
  return {{.name = "open_s", .better = Better::lower},
          {.name = "read", .better = Better::higher},
          {.name = "idle", .better = Better::higher, .judged = false}};
}

TEST(Ramp, LevelsDoubleUpToAllNodes) {
  EXPECT_THAT(ramp_levels(1), ElementsAre(1));
  EXPECT_THAT(ramp_levels(4), ElementsAre(1, 2, 4));
  EXPECT_THAT(ramp_levels(6), ElementsAre(1, 2, 4, 6));
}

TEST(Ramp, EachLevelIsAStepAndTheLastHasThePlainName) {
  PlannedStep other;
  other.id = "cpu_gemm";
  const auto steps = expand_ramps({other, ramped()}, 6);
  std::vector<std::string> ids;
  for (const auto& step : steps) {
    ids.push_back(step.id);
  }
  EXPECT_THAT(ids, ElementsAre("cpu_gemm", "storage@1", "storage@2", "storage@4", "storage"));
}

TEST(Ramp, LevelsMeasureAsManyNodesAsTheySayAtOnce) {
  const auto steps = expand_ramps({ramped()}, 6);
  const auto slots = make_slots(steps, 6, 7);
  ASSERT_EQ(slots.size(), 8U);  // 4 levels, 2 passes
  std::vector<std::size_t> sizes;
  std::set<int> nodes;
  for (const auto& slot : slots) {
    sizes.push_back(slot.parties.size());
    for (const auto& party : slot.parties) {
      ASSERT_EQ(party.size(), 1U);
      nodes.insert(party[0]);
    }
  }
  EXPECT_THAT(sizes, ElementsAre(1, 2, 4, 6, 1, 2, 4, 6));
  EXPECT_EQ(nodes.size(), 6U);
}

TEST(Ramp, TheBudgetIsForAllLevelsAndPasses) {
  const auto steps = expand_ramps({ramped(100, 1000)}, 4);
  const auto planned = within_budget(steps, make_slots(steps, 4, 1));
  double operations = 0;
  int index = 0;
  for (const auto& slot : planned.slots) {
    EXPECT_EQ(slot.index, index++);
    operations += 100.0 * static_cast<double>(slot.parties.size());
  }
  EXPECT_EQ(operations, 1000);  // 100 + 200 + 400, then 100 + 200, and no more of 400
  ASSERT_EQ(planned.omitted.size(), 1U);
  EXPECT_EQ(planned.omitted[0].step, "storage");
  EXPECT_THAT(planned.omitted[0].reason, HasSubstr("1 of 2 passes are beyond the budget of 1000"));
}

TEST(Ramp, OtherStepsHaveNoBudget) {
  PlannedStep step = ramped(1e9);
  step.ramp.reset();
  EXPECT_THAT(within_budget({step}, make_slots({step}, 4, 1)).omitted, IsEmpty());
}

TEST(Ramp, StopsWhereLatencyTriples) {
  const auto info = metrics();
  Ramp ramp(info);
  ramp.add(1, {{0.1, 100, 1}});
  ramp.add(2, {{0.29, 100, 1}, {0.29, 100, 1}});
  EXPECT_EQ(ramp.stopped(), "");
  EXPECT_EQ(ramp.highest(), 2);
  ramp.add(4, {{0.31, 100, 1}, {0.31, 90, 1}, {0.1, 100, 1}});
  EXPECT_EQ(ramp.stopped(), "with 4 nodes at once open_s took 3.1 times as long as with 1");
  EXPECT_EQ(ramp.highest(), 2);
}

TEST(Ramp, StopsWhereARateFallsToAThirdButNotForWhatIsNotJudged) {
  const auto info = metrics();
  Ramp ramp(info);
  ramp.add(1, {{0.1, 100, 1}});
  ramp.add(2, {{0.1, 100, 0.01}});
  EXPECT_EQ(ramp.stopped(), "");
  ramp.add(4, {{0.1, 20, 1}});
  EXPECT_THAT(ramp.stopped(), HasSubstr("read took 5.0 times as long"));
}

TEST(Ramp, HarmInALaterPassStopsItToo) {
  const auto info = metrics();
  Ramp ramp(info);
  for (const int level : {1, 2, 4}) {
    ramp.add(level, {{0.1, 100, 1}});
  }
  EXPECT_EQ(ramp.highest(), 4);
  ramp.add(2, {{0.5, 100, 1}});
  EXPECT_EQ(ramp.highest(), 1);
  EXPECT_THAT(ramp.stopped(), HasSubstr("with 2 nodes at once"));
}

TEST(Ramp, NodesThatAreLateStopIt) {
  const auto info = metrics();
  Ramp ramp(info);
  ramp.add(1, {{0.1, 100, 1}});
  ramp.add(4, {{0.1, 100, 1}, {}, {}, {}});
  EXPECT_EQ(ramp.stopped(), "with 4 nodes at once 3 of 4 gave no value");
}

TEST(Ramp, ANodeThatFailsAloneIsNoReasonToStopButThatAllFailIs) {
  const auto info = metrics();
  Ramp ramp(info);
  ramp.add(1, {{}});
  EXPECT_EQ(ramp.stopped(), "");
  ramp.add(2, {{0.1, 100, 1}, {0.1, 100, 1}, {}});
  ramp.add(4, {{0.4, 100, 1}});
  EXPECT_THAT(ramp.stopped(), HasSubstr("4.0 times as long as with 2"));
  Ramp broken(info);
  broken.add(1, {});
  broken.add(2, {{}, {}});
  EXPECT_EQ(broken.stopped(), "with 2 nodes at once 2 of 2 gave no value");
  EXPECT_EQ(broken.highest(), 1);
}

}  // namespace
}  // namespace fleetbench::plan
