// What explains a slow node and what does not, and nodes that are slow only now and then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "harness/detect/detect.hpp"
#include "tests/unit/detect_simulation.hpp"
#include "tests/unit/finding_lines.hpp"

namespace fleetbench {
namespace {

using testing::ElementsAre;

// A healthy fleet may be alarmed once in a hundred, so that of forty two may be.
constexpr unsigned kFleets = 40;
constexpr int kAlarmedAtMost = 2;

// How one node of a fleet of 24 differs in clock and time; 1 is as the others.
struct Odd {
  int node = 0;
  double clock = 1;
  double time = 1;
};

// A kernel that takes the longer the lower the clock is.
RunData kernels(const std::vector<Odd>& odd, unsigned seed) {
  constexpr int kNodes = 24;
  constexpr int kPasses = 8;
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  RunData run;
  run.header = header_of(kNodes);
  StepRecord step = host_step(0, "kernel", "s");
  step.metrics[0] = {"time", "s", Better::lower, Layer::compute, SubjectKind::node};
  MetricInfo clock{"clock", "Hz", Better::higher, Layer::compute, SubjectKind::node};
  clock.judged = false;
  clock.covariate = true;
  step.metrics.push_back(clock);
  run.steps = {step};
  for (int node = 0; node < kNodes; ++node) {
    double own_clock = 1.4e9 * std::exp(0.02 * normal(random));
    double own_time = 1.4e9 * std::exp(0.003 * normal(random));
    for (const Odd& one : odd) {
      own_clock *= one.node == node ? one.clock : 1;
      own_time *= one.node == node ? one.time : 1;
    }
    for (int pass = 0; pass < kPasses; ++pass) {
      const double now = own_clock * std::exp(0.003 * normal(random));
      run.samples.push_back(
          sample_of(0, pass, node, {own_time / now * std::exp(0.003 * normal(random)), now}));
    }
  }
  run.end = clean_end();
  return run;
}

// Slow findings: "node5" or, where a covariate explains it, "node5 by clock".
std::vector<std::string> explained(const Report& report) {
  std::vector<std::string> result;
  for (const Finding& finding : report.findings) {
    if (is_slow(finding)) {
      result.push_back(describe(finding.subject));
      for (const std::string& covariate : finding.explained_by_covariates) {
        result.back() += " by " + covariate;
      }
    }
  }
  return result;
}

TEST(Covariates, ExplainADeviceThatThrottles) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    EXPECT_THAT(explained(analyze(kernels({{5, 0.8, 1}}, seed))), ElementsAre("node5 by clock"))
        << seed;
  }
}

TEST(Covariates, DoNotExplainWhatIsSlowBeyondThem) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    EXPECT_THAT(explained(analyze(kernels({{9, 1, 1.2}}, seed))), ElementsAre("node9")) << seed;
    EXPECT_THAT(explained(analyze(kernels({{7, 0.8, 1.2}}, seed))), ElementsAre("node7")) << seed;
  }
}

TEST(Covariates, ShowWhatTheirSpreadWouldHide) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    // 4 % are two sigma as measured, and more than ten beyond the clock.
    EXPECT_THAT(explained(analyze(kernels({{3, 1, 1.04}}, seed))), ElementsAre("node3")) << seed;
  }
}

TEST(Covariates, OfAHealthyFleetAccuseNobody) {
  int alarmed = 0;
  for (unsigned seed = 1; seed <= kFleets; ++seed) {
    alarmed += accused(analyze(kernels({}, seed))).empty() ? 0 : 1;
  }
  EXPECT_LE(alarmed, kAlarmedAtMost);
}

// A node whose passes are slow now and then, here in `slow` of twenty.
RunData jittering(int slow, unsigned seed) {
  constexpr int kNodes = 16;
  constexpr int kPasses = 20;
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<int> passes(kPasses);
  std::iota(passes.begin(), passes.end(), 0);
  std::shuffle(passes.begin(), passes.end(), random);
  RunData run;
  run.header = header_of(kNodes);
  run.steps = {host_step(0, "gemm", "FLOP/s")};
  for (int node = 0; node < kNodes; ++node) {
    const double rate = 1e11 * std::exp(0.01 * normal(random));
    for (int pass = 0; pass < kPasses; ++pass) {
      const bool disturbed = node == 3 && passes[pass] < slow;
      run.samples.push_back(sample_of(
          0, pass, node, {rate / (disturbed ? 1.5 : 1) * std::exp(0.01 * normal(random))}));
    }
  }
  run.end = clean_end();
  return run;
}

TEST(Jitter, NamesANodeWithManySlowPasses) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    EXPECT_THAT(accused(analyze(jittering(8, seed))), ElementsAre("node3 host")) << seed;
  }
}

TEST(Jitter, ForgivesASingleSlowPass) {
  int alarmed = 0;
  for (unsigned seed = 1; seed <= kFleets; ++seed) {
    alarmed += accused(analyze(jittering(1, seed))).empty() ? 0 : 1;
  }
  EXPECT_LE(alarmed, kAlarmedAtMost);
}

}  // namespace
}  // namespace fleetbench
