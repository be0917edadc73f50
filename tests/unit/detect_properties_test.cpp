// What must not change what the detector finds: names, order, units, the way a metric counts,
// metrics that say nothing, rows that stand there twice.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <sstream>

#include "harness/detect/detect.hpp"
#include "harness/record/long_csv.hpp"
#include "harness/simulate/run_data.hpp"
#include "harness/simulate/text.hpp"
#include "tests/unit/detect_simulation.hpp"
#include "tests/unit/finding_lines.hpp"

namespace fleetbench {
namespace {

using simulation::Fault;
using simulation::FleetSpec;

constexpr unsigned kSeeds = 6;

FleetSpec nodes_with_a_slow_layer() {
  FleetSpec spec;
  spec.fault = Fault::layer;
  spec.effect = 0.2;
  return spec;
}

FleetSpec nodes_with_a_slow_metric() {
  FleetSpec spec;
  spec.nodes = 12;
  spec.fault = Fault::metric;
  spec.effect = 0.5;
  return spec;
}

FleetSpec nodes_with_a_slow_device() {
  FleetSpec spec;
  spec.nodes = 10;
  spec.devices = 4;
  spec.metrics = 12;
  spec.fault = Fault::device;
  spec.effect = 0.25;
  return spec;
}

FleetSpec nodes_with_wrong_results() {
  FleetSpec spec;
  spec.nodes = 8;
  spec.metrics = 8;
  spec.fault = Fault::wrong;
  return spec;
}

RunData pairs_of_nodes(unsigned seed) {
  FleetModel model;
  model.nodes = 6;
  model.host = {{4, 1.5}};
  model.sends = {{1, 3}};
  model.links[{0, 3}] = 5;
  return simulate(model, seed);
}

struct Named {
  const char* name;
  RunData (*run)(unsigned seed);
};

template <FleetSpec (*spec)()>
RunData recorded(unsigned seed) {
  return to_run(simulation::simulate_fleet(spec(), seed));
}

void PrintTo(const Named& named, std::ostream* out) { *out << named.name; }

class AnyFleet : public testing::TestWithParam<Named> {
 protected:
  // `change` gives another view of the same fleet.
  template <typename Change, typename Texts>
  void expect_unchanged(Change change, Texts texts) {
    for (unsigned seed = 1; seed <= kSeeds; ++seed) {
      const RunData run = GetParam().run(seed);
      const auto expected = texts(analyze(run));
      EXPECT_FALSE(expected.empty()) << "a property of nothing, seed " << seed;
      EXPECT_EQ(texts(change(run, seed)), expected) << "seed " << seed;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Detect, AnyFleet,
                         testing::Values(Named{"layer", recorded<nodes_with_a_slow_layer>},
                                         Named{"metric", recorded<nodes_with_a_slow_metric>},
                                         Named{"device", recorded<nodes_with_a_slow_device>},
                                         Named{"wrong", recorded<nodes_with_wrong_results>},
                                         Named{"pairs", pairs_of_nodes}),
                         [](const auto& test) { return std::string(test.param.name); });

// Node i becomes node numbers[i], with a name that does not sort as the old one did.
RunData relabelled(RunData run, const std::vector<int>& numbers) {
  const std::vector<NodeInfo> nodes = run.header.nodes;
  for (const NodeInfo& node : nodes) {
    NodeInfo& moved = run.header.nodes[numbers[node.index]];
    moved = node;
    moved.index = numbers[node.index];
    moved.ranks = {moved.index};
    moved.name = "host" + std::to_string(moved.index);
  }
  for (SampleRecord& sample : run.samples) {
    sample.node = numbers[sample.node];
    if (sample.peer) {
      sample.peer = numbers[*sample.peer];
    }
  }
  return run;
}

TEST_P(AnyFleet, DoesNotDependOnWhoIsWho) {
  const auto change = [](const RunData& run, unsigned seed) {
    std::vector<int> numbers(run.header.nodes.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    std::mt19937 random(seed);
    std::shuffle(numbers.begin(), numbers.end(), random);
    Report report = analyze(relabelled(run, numbers));
    std::map<std::string, std::string> original{{"", ""}};
    for (const NodeInfo& node : run.header.nodes) {
      original["host" + std::to_string(numbers[node.index])] = node.name;
    }
    for (Finding& finding : report.findings) {
      for (std::string* name : {&finding.subject.node, &finding.subject.a, &finding.subject.b}) {
        *name = original.at(*name);
      }
    }
    return report;
  };
  expect_unchanged(change, lines_of);
}

TEST_P(AnyFleet, DoesNotDependOnTheOrderOfSamples) {
  const auto change = [](RunData run, unsigned seed) {
    std::mt19937 random(seed);
    std::shuffle(run.samples.begin(), run.samples.end(), random);
    return analyze(run);
  };
  expect_unchanged(change, lines_of);
}

// change(value) for all values of the first metric of each step.
template <typename Change>
void change_first_metrics(RunData& run, Change change) {
  for (SampleRecord& sample : run.samples) {
    if (!sample.values.empty() && sample.values[0]) {
      sample.values[0] = change(*sample.values[0]);
    }
  }
}

TEST_P(AnyFleet, DoesNotDependOnUnits) {
  const auto change = [](RunData run, unsigned /*seed*/) {
    change_first_metrics(run, [](double value) { return 1000 * value; });
    return analyze(run);
  };
  expect_unchanged(change, lines_of);
}

TEST_P(AnyFleet, DoesNotDependOnWhetherTimesOrRatesAreCounted) {
  const auto change = [](RunData run, unsigned /*seed*/) {
    for (StepRecord& step : run.steps) {
      Better& better = step.metrics[0].better;
      better = better == Better::lower ? Better::higher : Better::lower;
    }
    change_first_metrics(run, [](double value) { return 1 / value; });
    return analyze(run);
  };
  expect_unchanged(change, lines_of);
}

TEST_P(AnyFleet, LearnsNothingFromAConstant) {
  const auto change = [](RunData run, unsigned /*seed*/) {
    for (StepRecord& step : run.steps) {
      MetricInfo constant = step.metrics[0];
      constant.name = "constant";
      step.metrics.push_back(constant);
    }
    for (SampleRecord& sample : run.samples) {
      if (!sample.values.empty()) {
        sample.values.emplace_back(7.0);
      }
    }
    return analyze(run);
  };
  expect_unchanged(change, claims_of);
}

// Rows of a fleet's CSV: `header`, then in any order what `rows` holds.
struct Csv {
  std::string header;
  std::vector<std::string> rows;

  explicit Csv(const std::string& text) {
    std::istringstream lines(text);
    std::getline(lines, header);
    for (std::string line; std::getline(lines, line);) {
      rows.push_back(line);
    }
  }
  Report report() const {
    std::string text = header + "\n";
    for (const std::string& row : rows) {
      text += row + "\n";
    }
    return analyze(record::read_long_csv({{"samples.csv", text}}).run);
  }
};

TEST(ImportedFleet, RowsThatStandThereTwiceCountOnce) {
  for (const auto& spec : {nodes_with_a_slow_layer(), nodes_with_a_slow_device(),
                           nodes_with_a_slow_metric(), nodes_with_wrong_results()}) {
    for (unsigned seed = 1; seed <= kSeeds; ++seed) {
      Csv csv(to_csv(simulate_fleet(spec, seed)));
      const auto expected = lines_of(csv.report());
      EXPECT_FALSE(expected.empty()) << seed;
      std::mt19937 random(seed);
      const std::size_t rows = csv.rows.size();
      for (std::size_t i = 0; i < rows / 3; ++i) {
        csv.rows.push_back(csv.rows[random() % rows]);
      }
      EXPECT_EQ(lines_of(csv.report()), expected) << "repeated at the end, seed " << seed;
      std::shuffle(csv.rows.begin(), csv.rows.end(), random);
      EXPECT_EQ(lines_of(csv.report()), expected) << "and in another order, seed " << seed;
    }
  }
}

TEST(ImportedFleet, IsJudgedAsTheSameValuesInMemory) {
  FleetSpec spec = nodes_with_a_slow_layer();
  spec.imported = true;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    const simulation::Fleet fleet = simulate_fleet(spec, seed);
    EXPECT_EQ(lines_of(Csv(to_csv(fleet)).report()), lines_of(analyze(to_run(fleet)))) << seed;
  }
}

}  // namespace
}  // namespace fleetbench
