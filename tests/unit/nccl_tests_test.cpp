#include "harness/record/nccl_tests.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "harness/record/nccl_log.hpp"
#include "harness/record/nccl_samples.hpp"
#include "results-schema/check.hpp"
#include "tests/unit/nccl_example.hpp"
#include "tests/unit/problem_marks.hpp"

namespace fleetbench::record {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

ImportedSamples read(const std::string& text) { return read_nccl_tests({{"n.log", text}}); }

std::vector<NcclRun> runs_of(const std::string& text) {
  NcclProblems problems;
  return read_nccl_log({"n.log", text}, 0, problems);
}

// "a>b step#pass [a:1b b:1b] status: judged values" of each sample.
std::vector<std::string> lines_of(const RunData& run) {
  std::vector<std::string> lines;
  const auto name = [&run](int node) { return run.header.nodes.at(node).name; };
  for (const SampleRecord& sample : run.samples) {
    const StepRecord& step = run.steps.at(sample.step);
    std::string line = name(sample.node);
    line += sample.peer ? ">" + name(*sample.peer) : "";
    for (const int node : sample.group) {
      line += "+" + name(node);
    }
    line += fmt::format(" {}#{} [", step.id, sample.pass);
    for (const End& end : sample.ends) {
      line += fmt::format("{}:{}", name(end.node), end.device);
    }
    line += "]";
    for (std::size_t m = 0; m < sample.values.size(); ++m) {
      if (step.metrics.at(m).judged && sample.values[m]) {
        line += fmt::format(" {:.1f}", *sample.values[m]);
      }
    }
    lines.push_back(
        line + (sample.status == Status::ok ? "" : fmt::format(" {}", to_string(sample.status))));
  }
  return lines;
}

TEST(NcclTests, TwoNodesAreALinkThatIsTheSameBothWays) {
  const auto result = read(text_of({}));
  EXPECT_THAT(lines_of(result.run),
              ElementsAre("a>b alltoall 2 nodes x 2 GPUs#0 [a:1ba:9db:1bb:9d] 10.0 20.0"));
  EXPECT_THAT(result.errors, IsEmpty());
  const auto& metrics = result.run.steps.at(0).metrics;
  ASSERT_EQ(metrics.size(), 5U);
  EXPECT_EQ(metrics[1].name, "busbw.1048576");
  EXPECT_EQ(metrics[1].unit, "GB/s");
  EXPECT_EQ(metrics[1].layer, Layer::network);
  EXPECT_EQ(metrics[1].subject, SubjectKind::link);
  EXPECT_EQ(metrics[1].better, Better::higher);
  EXPECT_TRUE(metrics[1].symmetric);
}

// A value and what was made of it are not two witnesses.
TEST(NcclTests, WhatIsInPlaceAndTheAverageAreShownAndNotJudged) {
  const auto run = read(text_of({.in_place = 0.5})).run;
  const auto& metrics = run.steps.at(0).metrics;
  std::vector<std::string> judged;
  std::vector<std::string> shown;
  for (const MetricInfo& metric : metrics) {
    (metric.judged ? judged : shown).push_back(metric.name);
  }
  EXPECT_THAT(judged, ElementsAre("busbw.1048576", "busbw.2097152"));
  EXPECT_THAT(shown, ElementsAre("busbw", "busbw_in_place.1048576", "busbw_in_place.2097152"));
  EXPECT_NEAR(*run.samples.at(0).values.at(0), 11.25, 1e-9);
  EXPECT_NEAR(*run.samples.at(0).values.at(2), 5, 0.01);
}

TEST(NcclTests, OneNodeIsANodeAndManyAreAGroup) {
  EXPECT_THAT(lines_of(read(text_of({.nodes = {"a"}, .factor = 0.5})).run),
              ElementsAre("a alltoall 2 GPUs#0 [a:1ba:9d] 10.0 20.0"));
  EXPECT_EQ(read(text_of({.nodes = {"a"}})).run.steps.at(0).metrics.at(1).layer, Layer::fabric);
  EXPECT_THAT(lines_of(read(text_of({.nodes = {"c", "a", "b"}, .pci = {"1b"}})).run),
              ElementsAre("a+a+b+c alltoall 3 nodes x 1 GPU#0 [a:1bb:1bc:1b] 10.0 20.0"));
}

TEST(NcclTests, ShapesAreComparedApart) {
  const auto run =
      read(text_of({}) + text_of({.pci = {"1b"}}) + text_of({.program = "sendrecv_perf"})).run;
  std::vector<std::string> steps;
  for (const StepRecord& step : run.steps) {
    steps.push_back(step.id);
  }
  EXPECT_THAT(steps, ElementsAre("alltoall 2 nodes x 1 GPU", "alltoall 2 nodes x 2 GPUs",
                                 "sendrecv 2 nodes x 2 GPUs"));
}

TEST(NcclTests, TheSameAgainIsAPassAndOtherGpusAreNot) {
  const NcclExample log;
  const NcclExample turned{.nodes = {"b", "a"}};
  const NcclExample others{.pci = {"43", "9d"}};
  const auto result = read_nccl_tests(
      {{"1", text_of(log)}, {"2", text_of(turned) + text_of(log)}, {"3", text_of(others)}});
  EXPECT_THAT(lines_of(result.run),
              ElementsAre("a>b alltoall 2 nodes x 2 GPUs#0 [a:1ba:9db:1bb:9d] 10.0 20.0",
                          "a>b alltoall 2 nodes x 2 GPUs#0 [a:43a:9db:43b:9d] 10.0 20.0",
                          "a>b alltoall 2 nodes x 2 GPUs#1 [a:1ba:9db:1bb:9d] 10.0 20.0",
                          "a>b alltoall 2 nodes x 2 GPUs#2 [a:1ba:9db:1bb:9d] 10.0 20.0"));
}

TEST(NcclTests, RowsThatComeAgainInOneRunArePasses) {
  const NcclExample log;
  EXPECT_THAT(lines_of(read(head_of(log) + row_of(log, 0) + row_of(log, 1) + row_of(log, 0) +
                            row_of(log, 1) + foot_of(log))
                           .run),
              ElementsAre(testing::EndsWith("#0 [a:1ba:9db:1bb:9d] 10.0 20.0"),
                          testing::EndsWith("#1 [a:1ba:9db:1bb:9d] 10.0 20.0")));
}

// What a broadcast sends, its root sends.
TEST(NcclTests, DataOfARootGoesOneWay) {
  const NcclExample from_a{.program = "broadcast_perf", .pci = {"1b"}, .root = 0, .factor = 1};
  NcclExample from_b = from_a;
  from_b.root = 1;
  const NcclExample to_a{
      .program = "reduce_perf", .pci = {"1b"}, .redop = "sum", .root = 0, .factor = 1};
  EXPECT_THAT(lines_of(read(text_of(from_a) + text_of(from_b)).run),
              ElementsAre(StartsWith("a>b broadcast 2 nodes x 1 GPU#0 [a:1bb:1b]"),
                          StartsWith("b>a broadcast 2 nodes x 1 GPU#0 [b:1ba:1b]")));
  const auto both = read(text_of(from_a) + text_of(from_b)).run;
  EXPECT_FALSE(both.steps.at(0).metrics.at(1).symmetric);
  EXPECT_TRUE(read(text_of(from_a)).run.steps.at(0).metrics.at(1).symmetric);
  EXPECT_THAT(lines_of(read(text_of(to_a)).run), ElementsAre(StartsWith("b>a reduce")));
}

TEST(NcclTests, TypesAndRootsThatDifferStandInTheNames) {
  const NcclExample log{.program = "broadcast_perf", .pci = {"1b"}, .root = 0, .factor = 1};
  NcclExample other = log;
  other.root = 1;
  const auto run = read(head_of(log) + row_of(log, 0) + row_of(other, 0) + foot_of(log)).run;
  EXPECT_EQ(run.steps.at(0).metrics.at(1).name, "busbw.1048576.root0");
  EXPECT_EQ(run.steps.at(0).metrics.at(3).name, "busbw.1048576.root1");
  EXPECT_EQ(run.samples.size(), 1U);
}

TEST(NcclTests, ATestThatFailedIsALinkWithoutAValue) {
  const NcclExample log;
  const auto result =
      read(head_of(log) + row_of(log, 0) +
           "b: Test NCCL failure common.cu:401 'remote process exited or there was a network "
           "error / '\n .. b pid 1: Test failure common.cu:519\n"
           "a: Test CUDA failure common.cu:66 'an illegal memory access was encountered'\n" +
           text_of({.program = "sendrecv_perf"}));
  EXPECT_THAT(marks(result.errors), ElementsAre("failed@13", "failed@15"));
  EXPECT_THAT(lines_of(result.run),
              ElementsAre("a>b alltoall 2 nodes x 2 GPUs#0 [a:1ba:9db:1bb:9d] failed",
                          "a>b sendrecv 2 nodes x 2 GPUs#0 [a:1ba:9db:1bb:9d] 10.0 20.0"));
  EXPECT_THAT(result.run.samples.at(0).reason, HasSubstr("illegal memory access"));
  EXPECT_THAT(result.run.damage, IsEmpty()) << "a failed test is a result";
}

TEST(NcclTests, AGroupThatFailedIsAFailureOfAllWhoWereInIt) {
  const NcclExample log{.nodes = {"a", "b", "c"}, .pci = {"1b"}};
  EXPECT_THAT(lines_of(read(head_of(log) + "a: Test NCCL failure x.cu:1 'no'\n").run),
              ElementsAre("a+a+b+c alltoall 3 nodes x 1 GPU#0 [a:1b] failed",
                          "b+a+b+c alltoall 3 nodes x 1 GPU#0 [b:1b] failed",
                          "c+a+b+c alltoall 3 nodes x 1 GPU#0 [c:1b] failed"));
}

TEST(NcclTests, WrongElementsAreWrongAndNotSlow) {
  const NcclExample log;
  const auto result = read(head_of(log) + row_of(log, 0) + row_of(log, 1, "1e+07") +
                           "# Out of bounds values : 1 FAILED\n# Avg bus bandwidth : 15\n");
  EXPECT_THAT(marks(result.errors), ElementsAre("wrong_result@13", "wrong_result@14"));
  EXPECT_THAT(lines_of(result.run), ElementsAre(testing::EndsWith("] wrong")));
}

TEST(NcclTests, WhatBreaksOffIsReadAsFarAsItGoes) {
  const NcclExample log;
  const std::string row = row_of(log, 1);
  const auto cut = read(head_of(log) + row_of(log, 0) + row.substr(0, row.size() / 2));
  EXPECT_THAT(marks(cut.errors), ElementsAre("truncated@13"));
  EXPECT_THAT(lines_of(cut.run), ElementsAre(testing::EndsWith("] 10.0")));
  EXPECT_EQ(cut.run.damage.size(), 1U);
  const auto early = read(head_of(log));
  EXPECT_THAT(marks(early.errors), ElementsAre("truncated@2"));
  EXPECT_THAT(lines_of(early.run), ElementsAre(testing::EndsWith("] failed")));
  const auto late = read(head_of(log) +
                         "slurmstepd: error: *** STEP 8.0 ON a CANCELLED AT "
                         "2026-03-02T11:40:18 DUE TO TIME LIMIT ***\n");
  EXPECT_THAT(lines_of(late.run), ElementsAre(testing::EndsWith("] timeout")));
}

// Over fewer sizes it is another figure.
TEST(NcclTests, TheAverageOfARunWithoutSomeSizesIsLeftOut) {
  const NcclExample log;
  const std::string cut = head_of(log) + row_of(log, 0);
  EXPECT_EQ(read(text_of(log) + cut).run.samples.at(1).values.at(0), std::nullopt);
  const auto whole = read(text_of(log) + cut + row_of(log, 1)).run.samples.at(1).values.at(0);
  ASSERT_TRUE(whole);
  EXPECT_NEAR(*whole, 15, 0.01);
}

TEST(NcclTests, WithoutDevicesThereAreNoNodes) {
  const NcclExample log;
  const auto result = read(row_of(log, 0) + row_of(log, 1) + foot_of(log));
  EXPECT_THAT(marks(result.errors), ElementsAre("no_node@1"));
  EXPECT_THAT(result.errors.at(0).message, HasSubstr("# Using devices"));
  EXPECT_THAT(result.run.samples, IsEmpty());
}

TEST(NcclTests, OtherTroubleIsNamedWithItsLine) {
  const NcclExample log;
  const std::string head = head_of(log);
  const std::string foot = foot_of(log);
  const std::string row = row_of(log, 0);
  const std::vector<std::pair<std::string, std::string>> table{
      {"", "no_rows@0"},
      {"ssh: connect to host b port 22: No route to host\n", "no_rows@0"},
      {head + foot, "no_rows@2"},
      {head + row.substr(0, 70) + "\n" + row + foot, "bad_row@12"},
      {head + row.substr(0, row.size() - 1) + "  7 8\n" + row + foot, "bad_row@12"},
      {head + "\xFF\xFE\n" + row + foot, "encoding@12"},
      {text_of({.nodes = {"a"}, .pci = {"1b"}}), "no_data@2"},
      {head + "#       size  count type time algbw\n" + row + foot, "missing_column@12"},
  };
  for (const auto& [text, mark] : table) {
    EXPECT_THAT(marks(read(text).errors), ElementsAre(mark)) << text;
  }
}

TEST(NcclTests, RowsInPiecesMustFitTogether) {
  const NcclExample log;
  const std::string row = row_of(log, 0);
  const std::size_t cut = row.find("-1") + 2;
  const std::string info = "10-0-0-7:22:33 [0] NCCL INFO Connected all rings\n";
  const auto with = [&](const std::string& before, const std::string& after) {
    return runs_of(head_of(log) + before + info + after + foot_of(log)).at(0).rows.size();
  };
  EXPECT_EQ(with(row.substr(0, cut) + "\n", row.substr(cut)), 1U);
  EXPECT_EQ(with(row.substr(0, cut) + "b:1:2 [0] NCCL INFO x\n", row.substr(cut)), 1U);
  EXPECT_EQ(
      with(row.substr(0, cut) + "[2025-01-31 10:00:00] q:1:2 [0] NCCL WARN x\n", row.substr(cut)),
      1U);
  // Where the host begins with a digit and no rank is on it, its first digits may be the row's.
  EXPECT_EQ(with(row.substr(0, cut), row.substr(cut)), 0U);
  EXPECT_EQ(with(row.substr(0, cut) + "\n", "  7  7  7  0  7  7  7  0\n"), 0U);
  EXPECT_EQ(with(row.substr(0, cut) + "\n", "1 more process has sent help message\n"), 0U);
}

TEST(NcclTests, ColumnsAreFoundByTheirNames) {
  const std::string text =
      "# Using devices\n#   Rank  0 Pid 1 on a device 0 [0x1b] V100\n"
      "#   Rank  1 Pid 2 on b device 0 [0x1b] V100\n"
      "#  size count type redop root cputime algbw busbw #wrong i_min i_max i_p99 i_cv% "
      "cputime algbw busbw #wrong i_min i_max i_p99 i_cv% timestamp\n"
      "1048576 262144 float sum -1 104.9 10.00 10.00 0 1 2 3 4 104.9 10.00 10.00 0 1 2 3 4 "
      "2025-01-31 10:00:00\n"
      "# Avg bus bandwidth : 10\n";
  const auto runs = runs_of(text);
  ASSERT_EQ(runs.at(0).rows.size(), 1U);
  EXPECT_EQ(runs[0].rows[0].in_place.busbw_GB_s, 10);
  EXPECT_EQ(runs[0].rows[0].in_place.wrong, 0);
}

TEST(NcclTests, VersionsOfNcclThatDifferAreTold) {
  std::string other = text_of({.nodes = {"c", "d"}});
  other.replace(other.find("nccl-library=22807"), 18, "nccl-library=21903");
  const auto result = read(text_of({}) + other);
  EXPECT_THAT(marks(result.warnings), ElementsAre("conflict@20"));
  EXPECT_THAT(result.warnings.at(0).message, HasSubstr("NCCL 2.19.3 here and 2.28.7 in n.log:2"));
}

TEST(NcclTests, WhatDoesNotFitIsRefused) {
  NcclProblems problems;
  const auto runs = runs_of(text_of({}) + text_of({}));
  EXPECT_THROW(nccl_run_data(runs, {"n.log"}, problems, {.places = 9}), InputError);
  EXPECT_THROW(nccl_run_data(runs, {"n.log"}, problems, {.samples = 1}), InputError);
  EXPECT_EQ(nccl_run_data(runs, {"n.log"}, problems, {.places = 10}).samples.size(), 2U);
}

}  // namespace
}  // namespace fleetbench::record
