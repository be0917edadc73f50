// What the detector must not be fooled by, and whom it must name all the same. A healthy fleet may
// be alarmed once in a hundred, so that of forty two may be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "harness/detect/baseline_build.hpp"
#include "harness/detect/detect.hpp"
#include "harness/simulate/run_data.hpp"
#include "tests/unit/finding_lines.hpp"

namespace fleetbench {
namespace {

using simulation::Fault;
using simulation::Fleet;
using simulation::FleetSpec;
using simulation::Nuisance;
using testing::Contains;
using testing::HasSubstr;

constexpr unsigned kFleets = 40;
constexpr int kAlarmedAtMost = 2;

std::string culprit_of(const Fleet& fleet) {
  const simulation::TrueFault& fault = fleet.faults.at(0);
  return describe(fault.subject) + " " + std::string(to_string(fault.layer));
}

bool names_two_populations(const Report& report) {
  return std::ranges::any_of(report.notes, [](const std::string& note) {
    return note.find("two populations") != std::string::npos;
  });
}

class Nuisances : public testing::TestWithParam<Nuisance> {
 protected:
  static FleetSpec spec() {
    FleetSpec spec;
    spec.nuisance = GetParam();
    return spec;
  }
};

TEST_P(Nuisances, AccuseNobody) {
  int alarmed = 0;
  for (unsigned seed = 1; seed <= kFleets; ++seed) {
    const Report report = analyze(to_run(simulate_fleet(spec(), seed)));
    const auto names = accused(report);
    alarmed += names.empty() ? 0 : 1;
    EXPECT_NE(report.verdict, Verdict::fail) << seed;
  }
  EXPECT_LE(alarmed, kAlarmedAtMost);
}

TEST_P(Nuisances, DoNotHideANodeThatIsSlow) {
  FleetSpec faulty = spec();
  faulty.fault = Fault::layer;
  faulty.effect = 0.4;
  int named = 0;
  for (unsigned seed = 1; seed <= kFleets; ++seed) {
    const Fleet fleet = simulate_fleet(faulty, seed);
    const auto names = accused(analyze(to_run(fleet)));
    named += std::ranges::find(names, culprit_of(fleet)) != names.end() ? 1 : 0;
  }
  EXPECT_GE(named, static_cast<int>(kFleets) - 2);
}

INSTANTIATE_TEST_SUITE_P(Detect, Nuisances,
                         testing::Values(Nuisance::one_pass, Nuisance::drift, Nuisance::labelled,
                                         Nuisance::generations, Nuisance::coarse, Nuisance::noisy),
                         [](const auto& test) {
                           std::string name(to_string(test.param));
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(Generations, ThatNobodyNamesAreNoted) {
  FleetSpec spec;
  spec.nuisance = Nuisance::generations;
  int noted = 0;
  for (unsigned seed = 1; seed <= kFleets; ++seed) {
    noted += names_two_populations(analyze(to_run(simulate_fleet(spec, seed)))) ? 1 : 0;
  }
  EXPECT_GE(noted, static_cast<int>(kFleets) - 2);
}

TEST(Generations, OfAFleetThatHasNoneAreNotNoted) {
  int noted = 0;
  for (unsigned seed = 1; seed <= kFleets; ++seed) {
    noted += names_two_populations(analyze(to_run(simulate_fleet(FleetSpec(), seed)))) ? 1 : 0;
  }
  EXPECT_LE(noted, kAlarmedAtMost);
}

// Otherwise the test of coarse metrics would be one of fine ones.
TEST(CoarseMetrics, HaveNoSpreadAtAll) {
  FleetSpec spec;
  spec.nuisance = Nuisance::coarse;
  for (unsigned seed = 1; seed <= kFleets; ++seed) {
    const Report report = analyze(to_run(simulate_fleet(spec, seed)));
    EXPECT_TRUE(std::ranges::any_of(report.metrics, [](const MetricSummary& metric) {
      return metric.spread_pct == 0;
    })) << seed;
  }
}

TEST(NoisyMetrics, AreMarkedAsUnusable) {
  FleetSpec spec;
  spec.nuisance = Nuisance::noisy;
  for (unsigned seed = 1; seed <= kFleets; ++seed) {
    const Fleet fleet = simulate_fleet(spec, seed);
    const auto& [quietest, noisiest] =
        std::ranges::minmax_element(fleet.metrics, {}, &simulation::Metric::within);
    const Report report = analyze(to_run(fleet));
    const auto find = [&](auto metric) {
      const auto name =
          metric_name(fleet, static_cast<std::size_t>(metric - fleet.metrics.begin()));
      return std::ranges::find(report.metrics, name, &MetricSummary::metric);
    };
    ASSERT_NE(find(noisiest), report.metrics.end());
    EXPECT_FALSE(find(noisiest)->usable) << find(noisiest)->metric << ", seed " << seed;
    EXPECT_TRUE(find(quietest)->usable) << "the quietest, seed " << seed;
  }
}

constexpr std::uint32_t kEarlierRuns = 3;
constexpr unsigned kSmallFleets = 20;

std::shared_ptr<const Baseline> baseline_of(FleetSpec spec, unsigned seed) {
  spec.fault = Fault::none;
  std::vector<RunData> runs;
  std::vector<Report> reports;
  for (std::uint32_t run = 1; run <= kEarlierRuns; ++run) {
    runs.push_back(to_run(simulate_fleet(spec, seed, run)));
    reports.push_back(analyze(runs.back()));
  }
  std::vector<BaselineRun> judged;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    judged.push_back({&runs[i], &reports[i]});
  }
  return std::make_shared<const Baseline>(build_baseline(judged, "2024-05-02T00:00:00Z").baseline);
}

class FewNodes : public testing::TestWithParam<int> {
 protected:
  static FleetSpec faulty() {
    FleetSpec spec;
    spec.nodes = GetParam();
    spec.fault = Fault::layer;
    spec.effect = 0.25;
    return spec;
  }
  static FleetSpec healthy() {
    FleetSpec spec = faulty();
    spec.fault = Fault::none;
    return spec;
  }
};

INSTANTIATE_TEST_SUITE_P(Detect, FewNodes, testing::Values(1, 2));

TEST_P(FewNodes, NameNobodyWithoutABaseline) {
  for (unsigned seed = 1; seed <= kSmallFleets; ++seed) {
    const Report report = analyze(to_run(simulate_fleet(faulty(), seed)));
    EXPECT_EQ(std::ranges::count_if(report.findings, is_slow), 0) << seed;
    EXPECT_NE(report.verdict, Verdict::pass) << "nobody can tell, seed " << seed;
  }
}

TEST_P(FewNodes, NameTheRightOneWithABaseline) {
  int named = 0;
  for (unsigned seed = 1; seed <= kSmallFleets; ++seed) {
    const Fleet fleet = simulate_fleet(faulty(), seed);
    const auto names = accused(analyze(to_run(fleet), {.baseline = baseline_of(faulty(), seed)}));
    named += names == std::vector{culprit_of(fleet)} ? 1 : 0;
  }
  EXPECT_GE(named, static_cast<int>(kSmallFleets) - 1);
}

TEST_P(FewNodes, NameNobodyWhoIsAsBefore) {
  int alarmed = 0;
  for (unsigned seed = 1; seed <= kSmallFleets; ++seed) {
    const RunData run = to_run(simulate_fleet(healthy(), seed));
    alarmed += accused(analyze(run, {.baseline = baseline_of(healthy(), seed)})).empty() ? 0 : 1;
  }
  EXPECT_LE(alarmed, 1);
}

TEST(TwoNodes, AreComparedWithEachOther) {
  FleetSpec spec;
  spec.nodes = 2;
  spec.fault = Fault::layer;
  spec.effect = 1;
  for (unsigned seed = 1; seed <= kSmallFleets; ++seed) {
    const Fleet fleet = simulate_fleet(spec, seed);
    EXPECT_THAT(analyze(to_run(fleet)).notes,
                Contains(testing::AllOf(HasSubstr(fleet.faults.at(0).subject.node + " is "),
                                        HasSubstr("only a baseline can tell"))))
        << seed;
  }
}

}  // namespace
}  // namespace fleetbench
