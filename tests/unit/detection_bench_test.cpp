// The bench of the detector, on a handful of fleets: it counts what is there. How good the detector
// is, only thousands of fleets tell: build/detection_bench.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/bench/detection/oracle.hpp"
#include "tests/bench/detection/rules.hpp"
#include "tests/bench/detection/score.hpp"
#include "tests/bench/detection/tally.hpp"
#include "tests/bench/detection/trial.hpp"

namespace fleetbench::bench {
namespace {

using simulation::Fault;
using simulation::Fleet;
using simulation::FleetSpec;

FleetSpec faulty(Fault fault, double effect, int devices = 0) {
  FleetSpec spec;
  spec.fault = fault;
  spec.effect = effect;
  spec.devices = devices;
  return spec;
}

Finding alarm(const simulation::TrueFault& fault) {
  Finding finding;
  finding.subject = fault.subject;
  finding.direction = fault.direction;
  finding.layer = fault.layer;
  finding.ci_low_pct = 100 * fault.effect - 5;
  finding.ci_high_pct = 100 * fault.effect + 5;
  return finding;
}

TEST(DetectionBench, DetectorAndOracleFindAFaultThatNobodyCanMiss) {
  FleetSpec spec = faulty(Fault::layer, 0.5);
  Look look;
  look.fine = true;
  look.rules = true;
  look.oracle = oracle_threshold(spec, Focus::layer, 200, 1);
  for (const Trial& trial : try_fleets(spec, 4, 2, look)) {
    EXPECT_EQ(trial.plain.faults, 1);
    EXPECT_EQ(trial.plain.found, 1);
    EXPECT_EQ(trial.fine.found, 1);
    EXPECT_EQ(trial.oracle.found, 1);
    EXPECT_EQ(trial.rules.front().found, 1);  // 5 % under the mean
    EXPECT_EQ(trial.rules.back().found, 0);   // twice as slow as the median
  }
}

TEST(DetectionBench, FleetsDoNotDependOnTheNumberOfCores) {
  const FleetSpec spec = faulty(Fault::layer, 0.5);
  const auto all = try_fleets(spec, 3, 5, {});
  const Trial third = try_fleet(spec, seed_of(5, 2), {});
  EXPECT_EQ(all[2].plain.alarms, third.plain.alarms);
  EXPECT_EQ(all[2].plain.found, third.plain.found);
  EXPECT_NE(seed_of(5, 2), seed_of(5, 3));
  EXPECT_NE(seed_of(5, 2), seed_of(6, 2));
}

TEST(DetectionBench, BrokenPartsAreToldApartFromSlowOnes) {
  for (const Fault fault : {Fault::wrong, Fault::failed, Fault::missing}) {
    const Score score = try_fleet(faulty(fault, 0), 3, {}).plain;
    EXPECT_EQ(score.found, 1) << to_string(fault);
    EXPECT_EQ(score.alarms, 0) << to_string(fault);
    EXPECT_FALSE(score.other_kind) << to_string(fault);
  }
}

TEST(OracleThreshold, AlarmsOneInAHundredHealthyFleets) {
  const FleetSpec spec;
  const double threshold = oracle_threshold(spec, Focus::layer, 1000, 1);
  // The largest of 32 x 4 normal values: exceeded by 1 in 100 at 3.78.
  EXPECT_NEAR(threshold, 3.78, 0.25);
  EXPECT_GT(oracle_threshold(spec, Focus::metric, 1000, 1), threshold);
}

TEST(Score, CountsFoundNamedAndFalse) {
  const Fleet fleet = simulate_fleet(faulty(Fault::device, 0.2, 8), 7);
  Report report;
  EXPECT_EQ(score(fleet, report).found, 0);

  report.findings = {alarm(fleet.faults[0])};
  Score seen = score(fleet, report);
  EXPECT_EQ(std::tuple(seen.found, seen.named, seen.alarms, seen.false_alarms),
            std::tuple(1, 1, 1, 0));
  EXPECT_EQ(std::tuple(seen.top, seen.top_true, seen.intervals), std::tuple(1, 1, 1));
  EXPECT_EQ(seen.cover_effect, 1);

  report.findings[0].subject.kind = "node";
  report.findings[0].subject.device.clear();
  seen = score(fleet, report);
  EXPECT_EQ(std::tuple(seen.found, seen.named, seen.false_alarms), std::tuple(1, 0, 0));

  report.findings[0].layer = Layer::input;
  seen = score(fleet, report);
  EXPECT_EQ(std::tuple(seen.found, seen.false_alarms), std::tuple(0, 1));

  report.findings = {alarm(fleet.faults[0])};
  report.findings[0].status = FindingStatus::tentative;
  seen = score(fleet, report);
  EXPECT_EQ(std::tuple(seen.found, seen.alarms), std::tuple(0, 0));

  report.findings[0].direction = Direction::wrong;
  EXPECT_TRUE(score(fleet, report).other_kind);
}

TEST(Rules, SayWhatTheyAreKnownToSay) {
  // Higher is better; one value a subject, one pass.
  const std::vector<std::vector<double>> quiet(20, {100.0});
  auto slow = quiet;
  slow[3] = {90};
  for (const Rule& rule : rules()) {
    EXPECT_EQ(std::ranges::count(rule.slow(quiet), true), 0) << rule.name;
    const auto found = rule.slow(slow);
    EXPECT_EQ(found[3], rule.name != "2x median") << rule.name;
    EXPECT_EQ(std::ranges::count(found, true), rule.name == "2x median" ? 0 : 1) << rule.name;
  }
  slow[3] = {40};
  EXPECT_TRUE(rules().back().slow(slow)[3]);
}

TEST(Rules, TheIteratedMeanFindsWhomTheMeanMasks) {
  std::vector<std::vector<double>> values(8, {100.0});
  values[0] = {40};
  values[1] = {91};
  EXPECT_FALSE(rules()[0].slow(values)[1]);
  EXPECT_TRUE(rules()[3].slow(values)[1]);
}

TEST(Acceptance, ToleratesOnlyWhatChanceExplains) {
  Acceptance within;
  within.add("claim", "cell", 0.01, 0.02);
  EXPECT_TRUE(within.print());
  Acceptance one_cell_too_far = within;
  one_cell_too_far.add("claim", "other", 0.07, 0.02);
  EXPECT_FALSE(one_cell_too_far.print());
  Acceptance all_a_little;
  for (int i = 0; i < 16; ++i) {
    all_a_little.add("claim", "cell", 0.02, 0.02);
  }
  EXPECT_FALSE(all_a_little.print());
}

TEST(Tally, HasTheErrorOfAShare) {
  Tally tally;
  for (int i = 0; i < 100; ++i) {
    tally.add(i < 20 ? 1 : 0);
  }
  EXPECT_DOUBLE_EQ(tally.mean(), 0.2);
  EXPECT_DOUBLE_EQ(tally.error(), 0.04);
}

}  // namespace
}  // namespace fleetbench::bench
