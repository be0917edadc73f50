// What was read beside a figure as evidence of a finding: one rule a test.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "harness/detect/detect.hpp"
#include "tests/unit/detect_simulation.hpp"

namespace fleetbench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

constexpr int kNodes = 4;
constexpr int kDevices = 4;
constexpr int kPasses = 3;

Json ordinary(int node, int device, int pass) {
  const double clock_hz = 1.98e9 * (1 - 0.001 * ((node + device + pass) % 3));
  return {
      {"gpu",
       {{"sm_clock_hz", {{"min", clock_hz}, {"median", clock_hz}, {"max", clock_hz}}},
        {"temperature_c", {{"min", 60}, {"median", 60 + (node + device) % 3}, {"max", 65}}},
        {"pcie_width", {{"min", 16}, {"median", 16}, {"max", 16}}},
        {"pcie_generation", {{"min", 5}, {"median", 5}, {"max", 5}}},
        {"power_limit_w", 700},
        {"ecc", {{"corrected", 0}, {"uncorrected", 0}}},
        {"nvlinks", {{"up", 18}, {"down", 0}}}}},
      {"evidence",
       {{"pressure", {{"cpu_some", 0.01}}}, {"rises", {{"nic_errors", 0}, {"pcie_fatal", 0}}}}}};
}

bool is_of(const SampleRecord& sample, int node, const std::string& device) {
  return sample.node == node && (device.empty() || sample.device == device);
}

// gpu2 of node1 takes 1.5 times as long in a step of this layer.
RunData gpus(Layer layer, const std::string& slow = "gpu2", int nodes = kNodes) {
  RunData run;
  run.header = header_of(nodes);
  StepRecord step = host_step(0, "work", "s");
  step.metrics = {{.name = "time",
                   .unit = "s",
                   .better = Better::lower,
                   .layer = layer,
                   .subject = SubjectKind::device}};
  run.steps = {step};
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  std::map<int, std::map<int, double>> own;
  for (int place = 0; place < nodes * kDevices; ++place) {
    own[place / kDevices][place % kDevices] = normal(random);
  }
  int slot = 0;
  for (int pass = 0; pass < kPasses; ++pass, ++slot) {
    for (int node = 0; node < nodes; ++node) {
      for (int device = 0; device < kDevices; ++device) {
        SampleRecord sample = sample_of(
            0, pass, node, {std::exp(0.005 * own[node][device] + 0.003 * normal(random))});
        sample.slot = slot;
        sample.device = fmt::format("gpu{}", device);
        sample.detail = ordinary(node, device, pass);
        if (is_of(sample, 1, slow)) {
          *sample.values[0] *= 1.5;
        }
        run.samples.push_back(std::move(sample));
      }
    }
  }
  run.end = clean_end();
  return run;
}

using Change = std::function<void(Json& detail, SampleRecord& sample)>;

void change(RunData& run, int node, const std::string& device, const Change& change) {
  for (SampleRecord& sample : run.samples) {
    if (is_of(sample, node, device)) {
      change(sample.detail, sample);
    }
  }
}

void set(RunData& run, int node, const std::string& device, const std::string& path,
         const Json& value) {
  change(run, node, device,
         [&](Json& detail, SampleRecord&) { detail[Json::json_pointer(path)] = value; });
}

std::vector<std::string> told(const Finding& finding) {
  std::vector<std::string> texts;
  for (const Evidence& evidence : finding.evidence) {
    if (evidence.source == "telemetry") {
      texts.push_back(evidence.text);
    }
  }
  return texts;
}

// Errors of a device are a finding of their own, besides.
Finding only_finding(const RunData& run) {
  Report report = analyze(run);
  std::erase_if(report.findings, [](const Finding& finding) {
    return finding.direction == Direction::wrong && finding.evidence.front().source == "telemetry";
  });
  EXPECT_EQ(report.findings.size(), 1U);
  return report.findings.empty() ? Finding() : report.findings.front();
}

std::vector<std::string> told(const RunData& run) { return told(only_finding(run)); }

TEST(Readings, AreSilentWhereAllAreAlike) {
  EXPECT_THAT(told(gpus(Layer::compute)), IsEmpty());
  EXPECT_EQ(only_finding(gpus(Layer::compute)).cause, "");
}

TEST(Readings, AStateIsComparedWithThatOfMost) {
  RunData run = gpus(Layer::copy);
  set(run, 1, "gpu2", "/gpu/pcie_width/median", 8);
  set(run, 3, "gpu0", "/gpu/pcie_width/median", 4);  // another odd one
  const Finding finding = only_finding(run);
  EXPECT_THAT(told(finding), ElementsAre("PCIe link of gpu2 under load: 8 lanes (others 16)"));
  const auto& reading = finding.evidence.back().reading;
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->what, "gpu.pcie_width");
  EXPECT_EQ(reading->value, 8);
  EXPECT_EQ(reading->others, 16);
  EXPECT_EQ(finding.cause, "PCIe link of gpu2 under load: 8 lanes (others 16)");
  EXPECT_THAT(analyze(run).verdict_reasons.front(), testing::HasSubstr(finding.cause));
}

TEST(Readings, WithoutAMajorityNoStateIsOdd) {
  RunData run = gpus(Layer::copy);
  for (int node = 0; node < kNodes; ++node) {
    set(run, node, "gpu1", "/gpu/pcie_width/median", 4);
    set(run, node, "gpu3", "/gpu/pcie_width/median", 2);
  }
  set(run, 1, "gpu2", "/gpu/pcie_width/median", 8);
  EXPECT_THAT(told(run), IsEmpty());
}

TEST(Readings, OfTheOtherDirectionAreNoFault) {
  RunData run = gpus(Layer::copy);
  set(run, 1, "gpu2", "/gpu/pcie_width/median", 32);
  set(run, 1, "gpu2", "/gpu/sm_clock_hz/median", 2.5e9);
  set(run, 1, "gpu2", "/gpu/temperature_c/median", 30);
  EXPECT_THAT(told(run), IsEmpty());
}

TEST(Readings, AThrottledClockIsTheCause) {
  RunData run = gpus(Layer::compute);
  set(run, 1, "gpu2", "/gpu/clock_event_reasons/hw_thermal_slowdown", 1);
  set(run, 1, "gpu2", "/gpu/sm_clock_hz/median", 1.38e9);
  set(run, 1, "gpu2", "/gpu/temperature_c/median", 90);
  const Finding finding = only_finding(run);
  EXPECT_THAT(
      told(finding),
      ElementsAre(
          "clock of gpu2 held back by hw_thermal_slowdown in 100 % of readings (others 0 %)",
          "SM clock of gpu2 1.38 GHz (median 1.98 GHz)",
          "temperature of gpu2 90 °C (median 61 °C)"));
  EXPECT_EQ(finding.cause,
            "clock of gpu2 held back by hw_thermal_slowdown in 100 % of readings (others 0 %), SM "
            "clock of gpu2 1.38 GHz (median 1.98 GHz)");
}

TEST(Readings, AReasonThatAllHaveIsNone) {
  RunData run = gpus(Layer::compute);
  for (int node = 0; node < kNodes; ++node) {
    set(run, node, "", "/gpu/clock_event_reasons/sw_power_cap", 0.5 + 0.01 * node);
  }
  EXPECT_THAT(told(run), IsEmpty());
}

TEST(Readings, AReasonInOnePassIsNoCause) {
  RunData run = gpus(Layer::compute);
  change(run, 1, "gpu2", [](Json& detail, const SampleRecord& sample) {
    if (sample.pass == 1) {
      detail["gpu"]["clock_event_reasons"]["sw_power_cap"] = 1;
    }
  });
  EXPECT_THAT(told(run), IsEmpty());
}

TEST(Readings, DifferencesUnderTheMinimumEffectAreNotTold) {
  RunData run = gpus(Layer::compute);
  set(run, 1, "gpu2", "/gpu/sm_clock_hz/median", 1.98e9 * 0.985);
  EXPECT_THAT(told(run), IsEmpty());
  set(run, 1, "gpu2", "/gpu/sm_clock_hz/median", 1.98e9 * 0.93);
  EXPECT_THAT(told(run), ElementsAre("SM clock of gpu2 1.84 GHz (median 1.98 GHz)"));
}

TEST(Readings, AnyErrorThatOthersDoNotHaveIsTold) {
  RunData run = gpus(Layer::compute);
  change(run, 1, "gpu2", [](Json& detail, const SampleRecord& sample) {
    if (sample.pass == 0) {
      detail["gpu"]["xid"] = {79, 79};
      detail["gpu"]["rises"] = {{"ecc_uncorrected", 1}, {"pcie_replays", 3}};
    }
    detail["gpu"]["ecc"]["uncorrected"] = 2;
    detail["gpu"]["nvlinks"] = {{"up", 14}, {"down", 4}};
  });
  EXPECT_THAT(
      told(run),
      ElementsAre("Xid 79 of gpu2 (others none)",
                  "1 uncorrected ECC errors of gpu2 meanwhile (others none)",
                  "2 uncorrected ECC errors of gpu2 since its driver was loaded (others none)",
                  "NVLink of gpu2: 14 of 18 links up (others 18)",
                  "pcie_replays of gpu2 rose by 3 (others none)"));
}

TEST(Readings, CountersThatAllHaveAreComparedBySize) {
  RunData run = gpus(Layer::copy);
  for (int node = 0; node < kNodes; ++node) {
    for (int device = 0; device < kDevices; ++device) {
      set(run, node, fmt::format("gpu{}", device), "/gpu/rises/pcie_replays", 10 + device);
    }
  }
  EXPECT_THAT(told(run), IsEmpty());
  set(run, 1, "gpu2", "/gpu/rises/pcie_replays", 100);
  EXPECT_THAT(told(run), ElementsAre("pcie_replays of gpu2 rose by 300 (median 33)"));
}

// Every worker of a node reads the same counters.
TEST(Readings, OfANodeCountOnceASlot) {
  RunData run = gpus(Layer::copy);
  set(run, 1, "", "/evidence/rises/pcie_fatal", 2);
  set(run, 1, "", "/evidence/where", {{"pcie_fatal", {{"0000:1b:00.0", 2}}}});
  EXPECT_THAT(told(run), ElementsAre("pcie_fatal rose by 6 (0000:1b:00.0) (others none)"));
}

TEST(Readings, OfAllDevicesOfANodeAreOneLine) {
  RunData run = gpus(Layer::copy, "", 8);
  set(run, 1, "", "/gpu/pcie_width/median", 8);
  const Finding finding = only_finding(run);
  EXPECT_EQ(finding.subject.kind, "node");
  EXPECT_THAT(told(finding),
              ElementsAre("PCIe link of all 4 devices under load: 8 lanes (others 16)"));
}

TEST(Readings, WhatCouldNotBeReadIsSaid) {
  RunData run = gpus(Layer::compute);
  change(run, 1, "gpu2", [](Json& detail, SampleRecord&) {
    detail.erase("gpu");
    detail["not_measured"] = {{{"what", "clocks"}, {"reason", "NVML: GPU is lost"}}};
  });
  EXPECT_THAT(told(run), Contains(testing::StartsWith("ECC errors, NVLinks, PCIe lanes")));
  EXPECT_THAT(told(run).back(),
              testing::EndsWith("could not be read of gpu2, the others' were: NVML: GPU is lost"));
}

TEST(Readings, OfAWrongResultAndOfAFailureAreToldToo) {
  for (const Status status : {Status::wrong, Status::failed}) {
    RunData run = gpus(Layer::compute, "none");
    change(run, 1, "gpu2", [&](Json& detail, SampleRecord& sample) {
      sample.status = status;
      sample.values.clear();
      detail["gpu"]["xid"] = {63};
    });
    EXPECT_THAT(told(run), Contains("Xid 63 of gpu2 (others none)")) << to_string(status);
  }
}

TEST(Readings, OfOneNodeAloneOnlyErrorsAreTold) {
  RunData run = gpus(Layer::compute, "none", 1);
  std::erase_if(run.samples, [](const auto& sample) { return sample.device != "gpu0"; });
  change(run, 0, "", [](Json& detail, SampleRecord& sample) {
    sample.status = Status::wrong;
    sample.values.clear();
    detail["gpu"]["ecc"]["uncorrected"] = 2;
    detail["gpu"]["clock_event_reasons"]["sw_power_cap"] = 1;
    detail["evidence"]["rises"]["nic_errors"] = 5;
  });
  EXPECT_THAT(told(run),
              ElementsAre("2 uncorrected ECC errors of gpu0 since its driver was loaded"));
}

TEST(Readings, OtherCohortsAreNoPeers) {
  RunData run = gpus(Layer::copy, "gpu2", 12);
  for (NodeInfo& node : run.header.nodes) {
    node.cohort = node.index < 4 ? "new" : "old";
  }
  for (int node = 4; node < 12; ++node) {
    set(run, node, "", "/gpu/pcie_width/median", 32);
  }
  EXPECT_THAT(told(run), IsEmpty());
}

// A part of the nodes stands for all, whether the finding's node is one of them or not.
TEST(Readings, OfALargeFleetAreComparedWithSome) {
  RunData run = gpus(Layer::copy, "gpu2", 600);
  set(run, 1, "gpu2", "/gpu/pcie_width/median", 8);
  EXPECT_THAT(told(run), ElementsAre("PCIe link of gpu2 under load: 8 lanes (others 16)"));
}

TEST(Readings, AreBounded) {
  RunData run = gpus(Layer::compute);
  for (int i = 0; i < 20; ++i) {
    set(run, 1, "gpu2", fmt::format("/gpu/rises/kind{}", i), 1);
  }
  EXPECT_EQ(told(run).size(), 6U);
}

TEST(Readings, OddShapesAreHarmless) {
  for (const Json& odd :
       {Json(3), Json::array({1}), Json{{"gpu", 7}}, Json{{"gpu", {{"xid", "x"}, {"rises", {1}}}}},
        Json{{"gpu", {{"xid", {nullptr, Json::object()}}, {"nvlinks", {{"up", "all"}}}}}},
        Json{{"evidence", {{"where", {{"nic_errors", 3}}}, {"rises", {{"nic_errors", 1}}}}}}}) {
    RunData run = gpus(Layer::compute);
    change(run, 1, "gpu2", [&](Json& detail, SampleRecord&) { detail = odd; });
    EXPECT_NO_THROW(analyze(run)) << odd.dump();
  }
}

// What is found of gpu0 of node3, whose figures are those of the others.
std::vector<Finding> found_of_another(const RunData& run) {
  std::vector<Finding> findings;
  for (const Finding& finding : analyze(run).findings) {
    if (finding.subject.node == "node3" && finding.subject.device == "gpu0") {
      findings.push_back(finding);
    }
  }
  return findings;
}

TEST(DeviceErrors, AreAFindingHoweverFastTheDevice) {
  const std::vector<std::pair<std::string, Json>> errors{{"/gpu/ecc/uncorrected", 2},
                                                         {"/gpu/rises/ecc_uncorrected", 1},
                                                         {"/gpu/remapped_rows/pending", true},
                                                         {"/gpu/remapped_rows/failed", true},
                                                         {"/gpu/xid", Json::array({79})}};
  for (const auto& [path, value] : errors) {
    RunData run = gpus(Layer::compute);
    for (int node = 0; node < kNodes; ++node) {
      set(run, node, "", "/gpu/remapped_rows", {{"pending", false}, {"failed", false}});
    }
    set(run, 3, "gpu0", path, value);
    const auto found = found_of_another(run);
    ASSERT_EQ(found.size(), 1U) << path;
    EXPECT_EQ(found[0].direction, Direction::wrong);
    EXPECT_EQ(found[0].layer, Layer::compute);
    EXPECT_EQ(told(found[0]).size(), 1U) << path;
    EXPECT_EQ(analyze(run).verdict, Verdict::fail);
  }
  RunData run = gpus(Layer::compute);
  set(run, 3, "gpu0", "/gpu/ecc/uncorrected", 2);
  const std::string text =
      "2 uncorrected ECC errors of gpu0 since its driver was loaded (others none)";
  EXPECT_THAT(told(found_of_another(run).at(0)), ElementsAre(text));
  EXPECT_THAT(analyze(run).verdict_reasons, testing::Contains("node3 gpu0: " + text));
}

TEST(DeviceErrors, StandBesideASlowFigureAndAreNotToldTwiceOfAWrongOne) {
  RunData run = gpus(Layer::compute);
  set(run, 1, "gpu2", "/gpu/ecc/uncorrected", 2);
  const Report report = analyze(run);
  ASSERT_EQ(report.findings.size(), 2U);
  EXPECT_EQ(report.findings[0].direction, Direction::wrong);
  EXPECT_EQ(report.findings[1].direction, Direction::slow);
  for (SampleRecord& sample : run.samples) {
    if (is_of(sample, 1, "gpu2") && sample.pass == 0) {
      sample.status = Status::wrong;
      sample.values.clear();
    }
  }
  const Report wrong = analyze(run);
  EXPECT_EQ(std::ranges::count(wrong.findings, Direction::wrong, &Finding::direction), 1);
}

TEST(DeviceErrors, AreNotWhatMostHaveNorWhatWasMended) {
  RunData run = gpus(Layer::compute);
  for (int node = 0; node < kNodes; ++node) {
    set(run, node, "", "/gpu/ecc/uncorrected", 2);
  }
  set(run, 3, "gpu0", "/gpu/ecc/corrected", 9);
  set(run, 3, "gpu0", "/gpu/remapped_rows/uncorrectable", 1);
  EXPECT_THAT(found_of_another(run), IsEmpty());
}

}  // namespace
}  // namespace fleetbench
