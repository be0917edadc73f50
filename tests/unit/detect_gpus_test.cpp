// What nodes say of their GPUs: those that CUDA lacks, their settings, and checks of just one.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "harness/detect/configuration.hpp"
#include "harness/detect/detect.hpp"
#include "tests/unit/detect_simulation.hpp"

namespace fleetbench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr int kDevices = 4;

std::string address(int device) { return fmt::format("0000:{}b:00.0", device + 1); }

Json cuda_of(int node) {
  Json cuda{{"driver", "580"}, {"cublaslt", 130000}, {"gpus", Json::array()}};
  for (int device = 0; device < kDevices; ++device) {
    cuda["on_pci"].push_back(address(device));
    cuda["gpus"].push_back({{"address", address(device)},
                            {"label", fmt::format("gpu{}", device)},
                            {"uuid", fmt::format("GPU-{}-{}", node, device)},
                            {"model", "H"},
                            {"power_limit_w", 700},
                            {"numa", device / 2}});
  }
  return cuda;
}

// A healthy fleet, of whose GPUs `probe` was measured.
RunData fleet(int nodes, int passes = 5) {
  RunData run;
  run.header = header_of(nodes);
  run.header.suite = "gpu";
  StepRecord step = host_step(0, "gpu_gemm", "s");
  step.metrics = {{.name = "time",
                   .unit = "s",
                   .better = Better::lower,
                   .layer = Layer::compute,
                   .subject = SubjectKind::device,
                   .next_check = "on {node}: `{gpu}ncu {run}`"}};
  run.steps = {step};
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (NodeInfo& node : run.header.nodes) {
    node.inventory["cuda"] = cuda_of(node.index);
    for (int pass = 0; pass < passes; ++pass) {
      for (int device = 0; device < kDevices; ++device) {
        const double own = 0.005 * std::sin(7 * (kDevices * node.index + device));
        SampleRecord sample =
            sample_of(0, pass, node.index, {std::exp(own + 0.003 * normal(random))});
        sample.device = fmt::format("gpu{}", device);
        run.samples.push_back(std::move(sample));
      }
    }
  }
  run.end = clean_end();
  return run;
}

// CUDA shows it no longer, and nothing is measured on it.
void drop(RunData& run, int node, int device) {
  Json& gpus = run.header.nodes[static_cast<std::size_t>(node)].inventory["cuda"]["gpus"];
  const std::string label = fmt::format("gpu{}", device);
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (gpus[i]["label"] == label) {
      gpus.erase(i);
    }
  }
  std::erase_if(run.samples, [&](const SampleRecord& sample) {
    return sample.node == node && sample.device == label;
  });
}

std::vector<std::string> missing_in(const Report& report) {
  std::vector<std::string> subjects;
  for (const Finding& finding : report.findings) {
    if (finding.direction == Direction::missing) {
      subjects.push_back(describe(finding.subject));
    }
  }
  return subjects;
}

std::vector<std::string> texts_of(const Finding& finding) {
  std::vector<std::string> texts;
  for (const Evidence& evidence : finding.evidence) {
    texts.push_back(evidence.text);
  }
  return texts;
}

TEST(GpusOnPci, AHealthyFleetLacksNone) {
  const Report report = analyze(fleet(4));
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_THAT(report.configuration, IsEmpty());
}

// With peers that decide, and without.
TEST(GpusOnPci, WhatCudaLacksIsMissingHoweverFewTheNodes) {
  for (const int nodes : {1, 4}) {
    RunData run = fleet(nodes);
    drop(run, 0, 2);
    const Report report = analyze(run);
    EXPECT_EQ(report.verdict, Verdict::fail);
    ASSERT_THAT(missing_in(report), ElementsAre(nodes == 1 ? "node0 " + address(2) : "node0 gpu2"));
    EXPECT_THAT(texts_of(report.findings[0]),
                Contains("the PCI tree shows a GPU at " + address(2) + ", CUDA does not (3 of 4)"));
  }
}

// Without a GPU worker only the PCI tree knows of them.
TEST(GpusOnPci, WhatNobodyHereMeasuresIsAGapAndNeverPasses) {
  RunData run = fleet(8);
  for (NodeInfo& node : run.header.nodes) {
    node.inventory = Json{{"gpus",
                           {{{"address", address(0)}, {"vendor", "0x10de"}},
                            {{"address", "0000:00:02.0"}, {"vendor", "0x8086"}}}}};
  }
  EXPECT_EQ(analyze(run).verdict, Verdict::pass);  // steps on GPUs were not asked for
  run.omissions = {{"gpu_copy", std::nullopt, "no GPU worker is installed"}};
  const Report report = analyze(run);
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_THAT(report.verdict_reasons,
              Contains("8 GPUs of 8 nodes were not measured: no GPU worker is installed"));
  run.omissions[0].step = run.steps[0].id;  // of a step that was begun: told elsewhere
  EXPECT_EQ(analyze(run).verdict, Verdict::pass);
}

TEST(GpusOnPci, WhatAllNodesLackIsMissingOnAll) {
  RunData run = fleet(3);
  for (int node = 0; node < 3; ++node) {
    drop(run, node, 3);
  }
  const Report report = analyze(run);
  EXPECT_EQ(report.verdict, Verdict::fail);
  EXPECT_THAT(missing_in(report),
              ElementsAre("node0 " + address(3), "node1 " + address(3), "node2 " + address(3)));
}

TEST(GpusOnPci, WithoutADriverAnywhereItIsNeverPass) {
  RunData run = fleet(3);
  run.samples.clear();
  for (NodeInfo& node : run.header.nodes) {
    node.inventory["cuda"]["gpus"] = Json::array();
    node.inventory["cuda"]["lacks"] = "this node has no NVIDIA driver";
  }
  const Report report = analyze(run);
  EXPECT_EQ(report.verdict, Verdict::fail);
  ASSERT_THAT(missing_in(report), ElementsAre("node0", "node1", "node2"));
  EXPECT_EQ(report.findings[0].evidence[0].text,
            "the PCI tree shows 4 GPUs (0000:1b:00.0, 0000:2b:00.0, 0000:3b:00.0, 0000:4b:00.0), "
            "CUDA none: this node has no NVIDIA driver");
}

// The GPU worker did not answer; the CPU worker's inventory has the PCI tree too.
TEST(GpusOnPci, AWorkerThatFailsHidesNothing) {
  RunData run = fleet(3);
  std::erase_if(run.samples, [](const auto& sample) { return sample.node == 1; });
  run.header.nodes[1].inventory["cuda"] = {{"reason", "the worker exited with code 127"},
                                           {"gpus", Json::array()}};
  run.header.nodes[1].inventory["gpus"] = {{{"address", address(0)}, {"vendor", "0x10de"}},
                                           {{"address", "0000:ff:00.0"}, {"vendor", "0x1002"}}};
  const Report report = analyze(run);
  ASSERT_THAT(missing_in(report), ElementsAre("node1"));
  EXPECT_THAT(texts_of(report.findings[0]),
              Contains("the PCI tree shows 1 GPU (0000:1b:00.0), CUDA none: the worker exited with "
                       "code 127"));
}

TEST(GpusOnPci, WhatIsHiddenOnPurposeIsNoFaultAndIsSaid) {
  for (const int nodes : {1, 4}) {
    RunData run = fleet(nodes);
    drop(run, 0, 2);
    drop(run, 0, 3);
    run.header.nodes[0].inventory["cuda"]["hidden_by"] = "CUDA_VISIBLE_DEVICES=0,1";
    const Report report = analyze(run);
    EXPECT_THAT(missing_in(report), IsEmpty());
    EXPECT_THAT(report.configuration, IsEmpty());
    EXPECT_EQ(report.verdict, nodes == 1 ? Verdict::inconclusive : Verdict::pass);
    const bool is_said = std::ranges::any_of(report.not_measured, [](const NotMeasured& item) {
      return item.what == "2 of 4 GPUs on node0" &&
             item.reason == "hidden from this run: CUDA_VISIBLE_DEVICES=0,1";
    });
    EXPECT_TRUE(is_said);
  }
}

std::vector<std::string> configuration_of(const RunData& run) {
  std::vector<std::string> texts;
  for (const Evidence& evidence : analyze(run).configuration) {
    texts.push_back(evidence.text);
  }
  return texts;
}

Json& gpu(RunData& run, int node, int device) {
  return run.header.nodes[static_cast<std::size_t>(node)]
      .inventory["cuda"]["gpus"][static_cast<std::size_t>(device)];
}

TEST(GpuSettings, OneGpuIsNamedByItsLabelAlsoOnOneNode) {
  RunData run = fleet(4);
  gpu(run, 1, 2)["power_limit_w"] = 500;
  EXPECT_THAT(configuration_of(run),
              ElementsAre("node1: power_limit_w of gpu2 is 500, 15 of 16 GPUs have 700"));
  RunData alone = fleet(1);
  gpu(alone, 0, 1)["power_limit_w"] = 500;
  EXPECT_THAT(configuration_of(alone),
              ElementsAre("node0: power_limit_w of gpu1 is 500, 3 of 4 GPUs have 700"));
}

TEST(GpuSettings, AllOfANodeAreOneDifference) {
  RunData run = fleet(4);
  for (int device = 0; device < kDevices; ++device) {
    gpu(run, 3, device)["power_limit_w"] = 500;
  }
  EXPECT_THAT(configuration_of(run),
              ElementsAre("node3: power_limit_w of all its GPUs is 500, 12 of 16 GPUs have 700"));
}

TEST(GpuSettings, WhatDiffersWithinANodeByNatureIsComparedByPlace) {
  RunData run = fleet(5);
  gpu(run, 1, 3)["numa"] = 0;
  EXPECT_THAT(configuration_of(run),
              ElementsAre("node1: cuda.gpus[0000:4b:00.0].numa is 0, 4 of 5 nodes have 1"));
  RunData three = fleet(1);  // three of four lie on one NUMA node, and that says nothing
  gpu(three, 0, 2)["numa"] = 0;
  gpu(three, 0, 3)["numa"] = 1;
  gpu(three, 0, 1)["numa"] = 1;
  EXPECT_THAT(configuration_of(three), IsEmpty());
}

TEST(GpuSettings, OfAnotherModelOnlyTheModelDiffers) {
  RunData run = fleet(4);
  gpu(run, 1, 2)["model"] = "A";
  gpu(run, 1, 2)["power_limit_w"] = 400;
  EXPECT_THAT(configuration_of(run), Contains("node1: model of gpu2 is A, 15 of 16 GPUs have H"));
  EXPECT_THAT(configuration_of(run), Not(Contains(HasSubstr("of 16 GPUs have 700"))));
}

RunData with_slow_gpu(int node, int device) {
  RunData run = fleet(6);
  for (SampleRecord& sample : run.samples) {
    if (sample.node == node && sample.device == fmt::format("gpu{}", device)) {
      *sample.values[0] *= 1.5;
    }
  }
  return run;
}

TEST(GpuSettings, AreEvidenceForTheirOwnGpu) {
  RunData run = with_slow_gpu(1, 2);
  gpu(run, 1, 2)["power_limit_w"] = 500;
  gpu(run, 1, 3)["power_limit_w"] = 400;
  const Report report = analyze(run);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_THAT(texts_of(report.findings[0]),
              Contains("power_limit_w of gpu2 is 500, 22 of 24 GPUs have 700"));
  EXPECT_THAT(texts_of(report.findings[0]), Not(Contains(HasSubstr("of gpu3"))));
}

TEST(GpuSettings, AnotherLibraryIsEvidenceAndTheReasonForSkipping) {
  RunData run = with_slow_gpu(1, 2);
  run.header.nodes[1].inventory["cuda"]["cublaslt"] = 120000;
  const std::string text = "cuda.cublaslt is 120000, 5 of 6 nodes have 130000";
  EXPECT_THAT(configuration_of(run), ElementsAre("node1: " + text));
  EXPECT_THAT(texts_of(analyze(run).findings.at(0)), Contains(text));

  // Whoever chose the algorithms has the odd one: the others skip.
  for (const bool odd_one_chose : {false, true}) {
    RunData skips = run;
    for (SampleRecord& sample : skips.samples) {
      if ((sample.node == 1) != odd_one_chose) {
        sample.status = Status::skipped;
        sample.values.clear();
        sample.reason = "another cuBLASLt";
      }
    }
    const auto list = analyze(skips).not_measured;
    const bool is_said = std::ranges::any_of(list, [&](const NotMeasured& item) {
      return item.what.starts_with("gpu_gemm on") &&
             item.reason == "another cuBLASLt; node1: " + text;
    });
    EXPECT_TRUE(is_said) << odd_one_chose;
  }
}

TEST(NextCheck, IsForJustThatStepOnJustThatDevice) {
  RunData run = with_slow_gpu(1, 2);
  EXPECT_EQ(analyze(run).findings.at(0).next_check,
            "on node1: `CUDA_VISIBLE_DEVICES=GPU-1-2 ncu fleetbench --suite gpu --only gpu_gemm "
            "--passes 1 --no-confirm`");
  run.header.arguments = {"--out", "x", "--suite", "my gpus.json"};
  run.steps[0].id = "gpu_gemm@alone";
  run.header.nodes[1].inventory["cuda"].erase("gpus");
  run.header.nodes[1].inventory["cuda"].erase("on_pci");
  EXPECT_EQ(analyze(run).findings.at(0).next_check,
            "on node1: `CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=2 ncu fleetbench --suite "
            "'my gpus.json' --only gpu_gemm --passes 1 --no-confirm`");
}

TEST(NextCheck, OfAWholeNodeSeesAllOfIt) {
  RunData run = fleet(8);
  for (SampleRecord& sample : run.samples) {
    *sample.values[0] *= sample.node == 1 ? 1.5 : 1;
  }
  const Report report = analyze(run);
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].subject.kind, "node");
  EXPECT_THAT(report.findings[0].next_check, StartsWith("on node1: `ncu fleetbench"));
}

TEST(NextCheck, OfAFailureRunsTheProbeByItself) {
  RunData run = fleet(4);
  for (SampleRecord& sample : run.samples) {
    if (sample.node == 2 && sample.device == "gpu1") {
      sample.status = Status::failed;
      sample.values.clear();
      sample.reason = "launch failure";
    }
  }
  const Report report = analyze(run);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_THAT(report.findings[0].next_check,
              HasSubstr("(`CUDA_VISIBLE_DEVICES=GPU-2-1 fleetbench --suite gpu --only gpu_gemm "
                        "--passes 1 --no-confirm`)"));
}

}  // namespace
}  // namespace fleetbench
