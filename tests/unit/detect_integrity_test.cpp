// What is wrong or missing, what was not measured, and the verdict that follows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "harness/detect/detect.hpp"
#include "tests/unit/detect_simulation.hpp"

namespace fleetbench {
namespace {

// Large and quiet enough to be PASS before anything is spoilt.
RunData quiet_run(int nodes = 16) {
  FleetModel model;
  model.nodes = nodes;
  model.between = model.within = 0.003;
  model.bandwidth_noise = model.latency_noise = 0.005;
  return simulate(model, 4);
}

using Chosen = std::function<bool(const SampleRecord&)>;

void spoil(RunData& run, Status status, const std::string& reason, const Chosen& chosen) {
  for (SampleRecord& sample : run.samples) {
    if (chosen(sample)) {
      sample.status = status;
      sample.reason = reason;
      sample.values.clear();
    }
  }
}

bool in_pair(const SampleRecord& sample, int node) {
  return sample.peer && (sample.node == node || *sample.peer == node);
}

std::string all_reasons(const Report& report) {
  std::string text;
  for (const std::string& reason : report.verdict_reasons) {
    text += reason + "\n";
  }
  return text;
}

bool mentions(const std::vector<NotMeasured>& list, const std::string& what,
              const std::string& reason) {
  return std::any_of(list.begin(), list.end(), [&](const NotMeasured& item) {
    return item.what == what && item.reason == reason;
  });
}

TEST(Verdict, AQuietFleetPassesAndSaysWhatWouldHaveBeenSeen) {
  const Report report = analyze(quiet_run());
  EXPECT_EQ(report.verdict, Verdict::pass) << all_reasons(report);
  ASSERT_EQ(report.verdict_reasons.size(), 1U);
  EXPECT_NE(report.verdict_reasons[0].find("% in host"), std::string::npos);
  EXPECT_NE(report.verdict_reasons[0].find("% in network"), std::string::npos);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_TRUE(report.not_measured.empty());
}

TEST(Integrity, AWrongResultIsAFindingHoweverSeldom) {
  RunData run = quiet_run();
  spoil(run, Status::wrong, "row 3 is false", [](const SampleRecord& sample) {
    return sample.step == 0 && sample.node == 5 && sample.pass == 2;
  });
  const Report report = analyze(run);
  EXPECT_EQ(report.verdict, Verdict::fail);
  ASSERT_EQ(report.findings.size(), 1U);
  const Finding& finding = report.findings[0];
  EXPECT_EQ(describe(finding.subject), "node5");
  EXPECT_EQ(finding.direction, Direction::wrong);
  EXPECT_EQ(finding.status, FindingStatus::confirmed);
  EXPECT_EQ(finding.layer, Layer::host);
  EXPECT_EQ(finding.slowdown_pct, 0);
  EXPECT_EQ(finding.evidence[0].text,
            "cpu_gemm gave a wrong result in 1 of 5 passes: row 3 is false");
}

TEST(Integrity, WrongResultsNearlyEverywhereAreOneFinding) {
  RunData run = quiet_run();
  spoil(run, Status::wrong, "", [](const SampleRecord& sample) { return sample.step == 0; });
  const Report report = analyze(run);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].subject.kind, "group");
  EXPECT_EQ(report.findings[0].subject.nodes.size(), 16U);
}

TEST(Integrity, AProbeThatFailsOnFewNodesIsTheirs) {
  RunData run = quiet_run();
  spoil(run, Status::timeout, "no answer in 10 s", [](const SampleRecord& sample) {
    return sample.step == 1 && (sample.node == 1 || sample.node == 2) && sample.pass > 2;
  });
  const Report report = analyze(run);
  EXPECT_EQ(report.verdict, Verdict::fail);
  ASSERT_EQ(report.findings.size(), 2U);
  EXPECT_EQ(report.findings[0].direction, Direction::missing);
  EXPECT_EQ(report.findings[0].evidence[0].text,
            "host_memory timed out in 2 of 5 passes: no answer in 10 s");
}

TEST(Integrity, AProbeThatFailsOnManyNodesIsNobodys) {
  RunData run = quiet_run();
  spoil(run, Status::failed, "no such library",
        [](const SampleRecord& sample) { return sample.step == 1 && sample.node < 4; });
  const Report report = analyze(run);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_TRUE(
      mentions(report.not_measured, "host_memory", "failed on 4 of 16 nodes: no such library"));
}

TEST(Integrity, AllNodesFailedEverywhere) {
  RunData run = quiet_run(4);
  spoil(run, Status::failed, "out of memory", [](const SampleRecord&) { return true; });
  const Report report = analyze(run);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_TRUE(report.metrics.empty());
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_NE(all_reasons(report).find("nothing was measured"), std::string::npos);
}

TEST(Integrity, FailedPairsAreBlamedOnTheNodeTheyShare) {
  RunData run = quiet_run();
  spoil(run, Status::failed, "connection refused",
        [](const SampleRecord& sample) { return in_pair(sample, 3) && !in_pair(sample, 7); });
  const Report report = analyze(run);
  ASSERT_EQ(report.findings.size(), 1U) << all_reasons(report);
  EXPECT_EQ(describe(report.findings[0].subject), "node3");
  EXPECT_EQ(report.findings[0].layer, Layer::network);
  EXPECT_EQ(report.findings[0].evidence[0].text,
            "mpi_pairs failed with 14 of 15 partners: connection refused");
}

TEST(Integrity, ASingleFailedPairIsALink) {
  RunData run = quiet_run();
  spoil(run, Status::failed, "reset", [](const SampleRecord& sample) {
    return in_pair(sample, 3) && in_pair(sample, 7) && sample.pass == 0;
  });
  const Report report = analyze(run);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(describe(report.findings[0].subject), "node3 - node7");
  EXPECT_EQ(report.findings[0].evidence[0].text, "mpi_pairs failed in 1 of 5 passes: reset");
}

TEST(Integrity, ALostNodeIsOneFindingAndItsPairsAreNotRepeated) {
  RunData run = quiet_run();
  run.losses.push_back({5, 5, 40, "mpi_pairs", "measure", "no answer for 12 s"});
  spoil(run, Status::failed, "peer lost",
        [](const SampleRecord& sample) { return in_pair(sample, 5) && sample.pass >= 3; });
  const Report report = analyze(run);
  EXPECT_EQ(report.verdict, Verdict::fail);
  EXPECT_EQ(report.lost_nodes, std::vector<std::string>{"node5"});
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].direction, Direction::missing);
  EXPECT_EQ(report.findings[0].layer, Layer::network);
  EXPECT_EQ(
      report.findings[0].evidence[0].text,
      "rank 5 on node5 stopped answering in step mpi_pairs, phase measure: no answer for 12 s");
}

TEST(Integrity, ValuesWithoutALogarithmAreFailures) {
  struct Case {
    double value;
    const char* text;
  };
  for (const Case& c : {Case{0, "its rate of 0 is not a positive number"},
                        Case{-3, "its rate of -3 is not a positive number"},
                        Case{std::nan(""), "its rate of nan is not a positive number"},
                        Case{std::numeric_limits<double>::infinity(),
                             "its rate of inf is not a positive number"}}) {
    RunData run = quiet_run();
    for (SampleRecord& sample : run.samples) {
      if (sample.step == 0 && sample.node == 2) {
        sample.values[0] = c.value;
      }
    }
    const Report report = analyze(run);
    ASSERT_EQ(report.findings.size(), 1U) << c.text;
    EXPECT_EQ(report.findings[0].direction, Direction::missing);
    EXPECT_NE(report.findings[0].evidence[0].text.find(c.text), std::string::npos)
        << report.findings[0].evidence[0].text;
  }
}

TEST(Verdict, InconclusiveForEachReason) {
  struct Case {
    const char* reason;
    std::function<void(RunData&)> spoil;
  };
  const Case cases[] = {
      {"the run broke off", [](RunData& run) { run.end.reset(); }},
      {"the run was interrupted: SIGTERM",
       [](RunData& run) {
         run.end->interrupted = true;
         run.end->reason = "SIGTERM";
       }},
      {"1 damaged record, the first: line 7", [](RunData& run) { run.damage.push_back("line 7"); }},
      {"nothing of the network layer was measured",
       [](RunData& run) {
         spoil(run, Status::skipped, "no route",
               [](const SampleRecord& sample) { return sample.step == 2; });
       }},
      {"less than half of the host layer was measured",
       [](RunData& run) {
         spoil(run, Status::skipped, "no AVX2", [](const SampleRecord& sample) {
           return sample.step == 0 || (sample.step == 1 && sample.node < 2);
         });
       }},
  };
  for (const Case& c : cases) {
    RunData run = quiet_run();
    c.spoil(run);
    const Report report = analyze(run);
    EXPECT_EQ(report.verdict, Verdict::inconclusive) << c.reason;
    EXPECT_NE(all_reasons(report).find(c.reason), std::string::npos) << all_reasons(report);
  }
}

TEST(Verdict, AFleetTooNoisyToSeeAnythingIsInconclusive) {
  FleetModel model;
  model.nodes = 8;
  model.within = 0.2;
  const Report report = analyze(simulate(model, 1));
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_NE(all_reasons(report).find("host: a slowdown under "), std::string::npos);
  DetectOptions options;
  options.blind_times = 1000;
  EXPECT_EQ(analyze(simulate(model, 1), options).verdict, Verdict::pass);
}

TEST(Verdict, TheWeightiestReasonComesFirst) {
  RunData run = quiet_run();
  run.end.reset();
  spoil(run, Status::wrong, "", [](const SampleRecord& sample) {
    return sample.step == 0 && sample.node == 5 && sample.pass == 2;
  });
  for (SampleRecord& sample : run.samples) {
    if (sample.step == 1 && sample.node == 6) {
      *sample.values[0] /= 2;
    }
  }
  const Report report = analyze(run);
  EXPECT_EQ(report.verdict, Verdict::fail);
  ASSERT_EQ(report.verdict_reasons.size(), 3U);
  EXPECT_NE(report.verdict_reasons[0].find("wrong"), std::string::npos);
  EXPECT_NE(report.verdict_reasons[1].find("node6"), std::string::npos);
  EXPECT_NE(report.verdict_reasons[2].find("broke off"), std::string::npos);
}

TEST(NotMeasured, ListsPartsThatAProbeCouldNotMeasure) {
  RunData run = quiet_run();
  for (SampleRecord& sample : run.samples) {
    if (sample.step == 0 && (sample.node == 3 || sample.node == 5)) {
      sample.detail =
          Json::parse(R"({"not_measured": [{"what": "sequential", "reason": "tmpfs"}]})");
    } else if (sample.step == 0) {
      sample.detail = Json::parse(R"({"not_measured": "rubbish"})");
    }
  }
  EXPECT_TRUE(mentions(analyze(run).not_measured, run.steps[0].id + ".sequential on node3, node5",
                       "tmpfs"));
}

TEST(NotMeasured, NobodyIsMissingWhereNodesWereDrawn) {
  RunData run = quiet_run();
  std::erase_if(run.samples,
                [](const SampleRecord& sample) { return sample.step == 0 && sample.node > 8; });
  EXPECT_FALSE(analyze(run).not_measured.empty());
  run.steps[0].sampled = true;
  EXPECT_TRUE(analyze(run).not_measured.empty());
}

TEST(NotMeasured, ListsWhatWasSkippedOmittedAndSilent) {
  RunData run = quiet_run();
  spoil(run, Status::skipped, "no AVX2", [](const SampleRecord& sample) {
    return sample.step == 0 && (sample.node == 1 || sample.node == 2);
  });
  std::erase_if(run.samples,
                [](const SampleRecord& sample) { return sample.step == 1 && sample.node == 7; });
  run.omissions.push_back({"storage", std::nullopt, "fio is not installed"});
  run.omissions.push_back({"mpi_pairs", 4, "two time-outs"});
  run.header.nodes[9].inventory = nullptr;
  const Report report = analyze(run);
  EXPECT_TRUE(mentions(report.not_measured, "cpu_gemm on node1, node2", "no AVX2"));
  EXPECT_TRUE(mentions(report.not_measured, "host_memory on node7", "no sample came back"));
  EXPECT_TRUE(mentions(report.not_measured, "storage", "fio is not installed"));
  EXPECT_TRUE(mentions(report.not_measured, "mpi_pairs on node4", "two time-outs"));
  EXPECT_TRUE(mentions(report.not_measured, "inventory on node9", "it could not be taken"));
  EXPECT_EQ(report.not_measured.size(), 5U);
  EXPECT_EQ(report.verdict, Verdict::fail) << all_reasons(report);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].direction, Direction::missing) << "nobody said why node7 is silent";
  EXPECT_EQ(report.findings[0].subject.node, "node7");
  run.end->interrupted = true;
  EXPECT_TRUE(analyze(run).findings.empty()) << "a run that broke off has not asked everybody";
}

TEST(NotMeasured, SaysWhereTooFewValuesAreLeftToCompare) {
  RunData run = quiet_run(5);
  spoil(run, Status::skipped, "no AVX2",
        [](const SampleRecord& sample) { return sample.step == 0 && sample.node > 1; });
  const Report report = analyze(run);
  EXPECT_TRUE(mentions(report.not_measured, "cpu_gemm.rate",
                       "only 2 of the fleet gave values: nobody can be named"));
}

}  // namespace
}  // namespace fleetbench
