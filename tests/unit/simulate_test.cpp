// Simulated fleets are what their specs say, in each form in which they are handed out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <sstream>

#include "harness/simulate/run_data.hpp"
#include "harness/simulate/text.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::simulation {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) {
    squares += std::pow(value - mean(values), 2);
  }
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::vector<std::vector<std::string>> cells(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> row;
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) {
      row.push_back(field);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

FleetSpec faulty(Fault fault, double effect = 0.2) {
  FleetSpec spec;
  spec.fault = fault;
  spec.effect = effect;
  return spec;
}

// What add_record accepts, and gives back from its JSON, is a run.
RunData recorded_again(const RunData& run) {
  RunData again;
  again.header = run.header;
  for (const StepRecord& step : run.steps) {
    add_record(again, step);
  }
  for (const SampleRecord& sample : run.samples) {
    add_record(again, record_from_json(to_json(Record(sample))));
  }
  return again;
}

TEST(SimulatedFleet, IsTheSameForTheSameSeed) {
  EXPECT_EQ(to_csv(simulate_fleet({}, 5)), to_csv(simulate_fleet({}, 5)));
  EXPECT_NE(to_csv(simulate_fleet({}, 5)), to_csv(simulate_fleet({}, 6)));
}

TEST(SimulatedFleet, HasTheSpreadsItSaysItHas) {
  for (const Tails tails : all_tails()) {
    FleetSpec spec;
    spec.nodes = 4000;
    spec.metrics = 8;
    spec.tails = tails;
    const Fleet fleet = simulate_fleet(spec, 1);
    for (std::size_t m = 0; m < fleet.metrics.size(); ++m) {
      const Metric& metric = fleet.metrics[m];
      EXPECT_THAT(spec.spreads, testing::Contains(metric.between));
      EXPECT_NEAR(deviation(fleet.levels[m]) / metric.between, 1, tails == Tails::t4 ? 0.3 : 0.05);
      EXPECT_GE(metric.within / metric.between, spec.noise_low * 0.999);
      EXPECT_LE(metric.within / metric.between, spec.noise_high * 1.001);
    }
  }
}

TEST(SimulatedFleet, MetricsOfALayerGoTogetherWhereTheyAreSaidTo) {
  FleetSpec spec;
  spec.nodes = 2000;
  spec.correlation = 0.8;
  const Fleet fleet = simulate_fleet(spec, 2);
  const auto product = [&](std::size_t a, std::size_t b) {
    double sum = 0;
    for (int i = 0; i < spec.nodes; ++i) {
      sum += fleet.levels[a][i] * fleet.levels[b][i];
    }
    return sum / spec.nodes / fleet.metrics[a].between / fleet.metrics[b].between;
  };
  EXPECT_NEAR(product(0, 1), 0.8, 0.1);
  EXPECT_NEAR(product(0, fleet.metrics.size() - 1), 0, 0.1);  // of another layer
}

TEST(SimulatedFleet, ARunAgainMeasuresTheSameSubjects) {
  const Fleet before = simulate_fleet({}, 3, 0);
  const Fleet after = simulate_fleet(faulty(Fault::fleet), 3, 1);
  ASSERT_THAT(after.faults, SizeIs(1));
  for (std::size_t m = 0; m < before.metrics.size(); ++m) {
    const bool slow = after.group_of(m).layer == after.faults[0].layer;
    EXPECT_NEAR(after.levels[m][7] - before.levels[m][7], slow ? std::log(1.2) : 0, 1e-12);
    EXPECT_NE(before.measured[m], after.measured[m]);
  }
}

TEST(SimulatedFleet, ASlowSubjectIsSlowerByTheEffectInTheMetricsOfItsFault) {
  FleetSpec spec = faulty(Fault::layer);
  spec.spreads = {0.0005};
  const Fleet fleet = simulate_fleet(spec, 4);
  ASSERT_THAT(fleet.faults, SizeIs(1));
  const TrueFault& fault = fleet.faults[0];
  EXPECT_THAT(fault.metrics, SizeIs(5));
  for (std::size_t m = 0; m < fleet.metrics.size(); ++m) {
    for (int node = 0; node < spec.nodes; ++node) {
      const bool slow =
          node_name(node) == fault.subject.node && fleet.group_of(m).layer == fault.layer;
      EXPECT_NEAR(fleet.levels[m][node], slow ? std::log(1.2) : 0, 0.01);
    }
  }
}

TEST(SimulatedFleet, EveryFamilySaysWhoIsFaulty) {
  for (const Fault fault : all_faults()) {
    FleetSpec spec = faulty(fault);
    spec.devices = 4;
    spec.faulty = 3;
    const Fleet fleet = simulate_fleet(spec, 9);
    std::set<std::string> nodes;
    for (const TrueFault& each : fleet.faults) {
      nodes.insert(each.subject.node);
      EXPECT_FALSE(each.metrics.empty());
    }
    const std::size_t expected = fault == Fault::none ? 0 : fault == Fault::fleet ? 1 : 3;
    EXPECT_THAT(nodes, SizeIs(expected)) << to_string(fault);
    const bool device = fault == Fault::device || fault == Fault::missing;
    if (device) {
      EXPECT_FALSE(fleet.faults[0].subject.device.empty()) << to_string(fault);
    }
  }
}

TEST(SimulatedFleet, NuisancesAreThereAndAreNoFaults) {
  for (const Nuisance nuisance : all_nuisances()) {
    FleetSpec spec;
    spec.nuisance = nuisance;
    EXPECT_THAT(simulate_fleet(spec, 8).faults, SizeIs(0));
    EXPECT_EQ(to_csv(simulate_fleet(spec, 8)) == to_csv(simulate_fleet({}, 8)),
              nuisance == Nuisance::none);
  }
}

TEST(SimulatedFleet, MostValuesOfACoarseMetricAreEqual) {
  FleetSpec spec;
  spec.nuisance = Nuisance::coarse;
  const Fleet fleet = simulate_fleet(spec, 10);
  int coarse = 0;
  for (std::size_t m = 0; m < fleet.metrics.size(); ++m) {
    if (fleet.resolutions[m] > 0) {
      ++coarse;
      const auto equal = std::ranges::count_if(fleet.measured[m], [&](double x) {
        return raw_value(fleet, m, x) == fleet.metrics[m].typical;
      });
      EXPECT_GT(equal, spec.nodes * spec.passes / 2);
    }
  }
  EXPECT_GT(coarse, 0);
}

TEST(SimulatedFleet, RawValuesGetWorseWithSlowness) {
  const Fleet fleet = simulate_fleet({}, 11);
  for (std::size_t m = 0; m < fleet.metrics.size(); ++m) {
    const bool time = fleet.metrics[m].info.better == Better::lower;
    EXPECT_EQ(fleet.metrics[m].info.unit, time ? "s" : "B/s");
    EXPECT_NEAR(raw_value(fleet, m, std::log(2)) / fleet.metrics[m].typical, time ? 2 : 0.5, 1e-9);
  }
}

TEST(SimulatedRun, IsOneThatTheHarnessCouldHaveRecorded) {
  for (const Fault fault : all_faults()) {
    for (const bool imported : {false, true}) {
      FleetSpec spec = faulty(fault);
      spec.nodes = 6;
      spec.devices = 2;
      spec.imported = imported;
      const RunData run = to_run(simulate_fleet(spec, 12));
      EXPECT_EQ(recorded_again(run).samples.size(), run.samples.size()) << to_string(fault);
      EXPECT_EQ(run.imported, imported);
      EXPECT_TRUE(run.end.has_value());
      EXPECT_THAT(run.steps, SizeIs(imported ? 1 : 4));
    }
  }
}

TEST(SimulatedRun, ALostNodeHasALossAndNothingAfterIt) {
  const Fleet fleet = simulate_fleet(faulty(Fault::missing), 13);
  const RunData run = to_run(fleet);
  ASSERT_THAT(run.losses, SizeIs(1));
  const int node = run.losses[0].node;
  EXPECT_EQ(node_name(node), fleet.faults[0].subject.node);
  for (const SampleRecord& sample : run.samples) {
    EXPECT_FALSE(sample.node == node && sample.slot >= *run.losses[0].slot);
  }
}

TEST(SimulatedRun, GenerationsAreInTheInventoryOrAreNamedCohorts) {
  FleetSpec spec;
  spec.nuisance = Nuisance::labelled;
  const RunData run = to_run(simulate_fleet(spec, 14));
  std::map<std::string, int> models;
  for (const NodeInfo& node : run.header.nodes) {
    ++models[node.inventory.part("cpu").at("model").get<std::string>()];
  }
  EXPECT_THAT(models, ElementsAre(testing::Pair("Simulated CPU newer", 22),
                                  testing::Pair("Simulated CPU older", 10)));
  spec.imported = true;
  EXPECT_THAT(to_csv(simulate_fleet(spec, 14)), HasSubstr(",older,"));
  EXPECT_FALSE(to_run(simulate_fleet(spec, 14)).header.nodes[0].cohort.empty());
}

TEST(SimulatedCsv, HasARowForEachValue) {
  FleetSpec spec;
  spec.nodes = 3;
  spec.devices = 2;
  spec.metrics = 4;
  spec.passes = 2;
  const auto rows = cells(to_csv(simulate_fleet(spec, 15)));
  EXPECT_THAT(rows[0], ElementsAre("node", "device", "metric", "unit", "better", "layer", "cohort",
                                   "pass", "value", "status"));
  EXPECT_THAT(rows, SizeIs(1 + 2 * (3 * 2 + 3 * 2 * 2)));
  EXPECT_THAT(rows, Each(SizeIs(10)));
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_GT(std::stod(rows[i][8]), 0);
    EXPECT_EQ(rows[i][4], rows[i][3] == "s" ? "lower" : "higher");
    EXPECT_EQ(rows[i][1].empty(), rows[i][5] == "host" || rows[i][5] == "storage");
  }
}

TEST(SimulatedCsv, WhatFailedHasAStatusAndNoValue) {
  for (const auto& [fault, status] :
       {std::pair(Fault::failed, "failed"), std::pair(Fault::wrong, "wrong")}) {
    const Fleet fleet = simulate_fleet(faulty(fault), 16);
    int broken = 0;
    for (const auto& row : cells(to_csv(fleet))) {
      if (row[9] == status) {
        ++broken;
        EXPECT_EQ(row[0], fleet.faults[0].subject.node);
        EXPECT_EQ(row[8], "");
      }
    }
    EXPECT_GT(broken, 0);
    EXPECT_EQ(broken % 5, 0);  // all metrics of the layer
  }
}

TEST(SimulatedTruth, NamesTheFaultAndTheSeed) {
  FleetSpec spec = faulty(Fault::device, 0.08);
  spec.devices = 8;
  const Json truth = truth_of(simulate_fleet(spec, 17));
  EXPECT_EQ(truth["seed"], 17);
  ASSERT_EQ(truth["faults"].size(), 1U);
  EXPECT_EQ(truth["faults"][0]["subject"]["kind"], "device");
  EXPECT_NEAR(truth["faults"][0]["slowdown_pct"].get<double>(), 8, 1e-9);
  EXPECT_EQ(truth["metrics"].size(), 20U);
}

TEST(FleetSpec, SaysWhatMakesNoFleet) {
  const auto complaint = [](auto change) -> std::string {
    FleetSpec spec;
    change(spec);
    try {
      check(spec);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(complaint([](FleetSpec&) {}), "");
  EXPECT_THAT(complaint([](FleetSpec& s) { s.nodes = 0; }), HasSubstr("nodes 0"));
  EXPECT_THAT(complaint([](FleetSpec& s) { s.metrics = 0; }), HasSubstr("metrics 0"));
  EXPECT_THAT(complaint([](FleetSpec& s) { s.passes = 0; }), HasSubstr("passes 0"));
  EXPECT_THAT(complaint([](FleetSpec& s) { s.devices = -1; }), HasSubstr("devices -1"));
  EXPECT_THAT(complaint([](FleetSpec& s) { s.spreads = {}; }), HasSubstr("spreads"));
  EXPECT_THAT(complaint([](FleetSpec& s) { s.spreads = {0.01, -0.02}; }), HasSubstr("spread -2"));
  EXPECT_THAT(complaint([](FleetSpec& s) { s.noise_low = 0; }), HasSubstr("noise 0"));
  EXPECT_THAT(complaint([](FleetSpec& s) { s.noise_high = 0.01; }), HasSubstr("noise 0.01"));
  EXPECT_THAT(complaint([](FleetSpec& s) { s.correlation = 1.5; }), HasSubstr("correlation 1.5"));
  EXPECT_THAT(complaint([](FleetSpec& s) { s.effect = -0.1; }), HasSubstr("effect -10"));
  EXPECT_THAT(complaint([](FleetSpec& s) { s.faulty = 33; }), HasSubstr("faulty 33"));
  EXPECT_THAT(complaint([](FleetSpec& s) { s.fault = Fault::device; }), HasSubstr("devices too"));
  EXPECT_THAT(complaint([](FleetSpec& s) {
                s.fault = Fault::layer;
                s.devices = s.metrics = 1;
              }),
              HasSubstr("more than one metric"));
  EXPECT_THAT(complaint([](FleetSpec& s) { s.nodes = s.metrics = 100000; }),
              HasSubstr("values in all"));
}

TEST(FleetSpec, ReadsWhatItWrites) {
  for (const Fault fault : all_faults()) {
    EXPECT_EQ(parse_fault(to_string(fault)), fault);
  }
  for (const Nuisance nuisance : all_nuisances()) {
    EXPECT_EQ(parse_nuisance(to_string(nuisance)), nuisance);
  }
  for (const Tails tails : all_tails()) {
    EXPECT_EQ(parse_tails(to_string(tails)), tails);
  }
  EXPECT_THROW(parse_tails("t5"), InputError);
}

}  // namespace
}  // namespace fleetbench::simulation
