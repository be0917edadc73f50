#include "harness/report/pair_matrix.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "harness/report/escape.hpp"
#include "tests/unit/pairs_run.hpp"

namespace fleetbench {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

double alike(int, int) { return 1e9; }

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

TEST(PairMatrix, OfARunWithoutPairsIsEmpty) {
  EXPECT_THAT(pair_matrices_text(run_of(3)), IsEmpty());
  EXPECT_THAT(pair_matrices_text(RunData{}), IsEmpty());
}

TEST(PairMatrix, FitsATerminalAtAnySize) {
  for (int nodes = 2; nodes <= 40; ++nodes) {
    RunData run = run_of(nodes);
    add_pairs(run, "pairs", nodes, [](int from, int to) { return from == 0 ? 1e9 : 3e9 + to; });
    const std::string text = pair_matrices_text(run);
    for (const std::string& line : lines_of(text)) {
      EXPECT_LE(report::columns(line), 100U) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
    for (const NodeInfo& node : run.header.nodes) {
      if (nodes <= 32) {
        EXPECT_THAT(text, HasSubstr(node.name));
      }
    }
  }
}

TEST(PairMatrix, MarksWhatIsNoFigure) {
  RunData run = run_of(4);
  add_pairs(run, "pairs", 4, alike);
  const auto spoil = [&](int from, int to, Status status) {
    SampleRecord& sample = sample_of_pair(run, 0, from, to);
    sample.status = status;
    sample.values.clear();
  };
  spoil(0, 1, Status::failed);
  spoil(1, 0, Status::timeout);
  spoil(0, 2, Status::wrong);
  spoil(2, 0, Status::skipped);
  sample_of_pair(run, 0, 3, 0).values = {4e9};
  sample_of_pair(run, 0, 3, 1).values = {0.25e9};
  const auto lines = lines_of(pair_matrices_text(run));
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_EQ(lines[0], "pairs.bandwidth: speed in % of the median pair, 1.00 GB/s");
  // Read back by the names that stand at the edges.
  const auto names = words_of(lines[1]);
  const auto cell = [&](const std::string& from, const std::string& to) {
    for (std::size_t i = 2; i < 6; ++i) {
      const auto words = words_of(lines[i]);
      if (words.front() == from) {
        return words.at(1 + static_cast<std::size_t>(std::ranges::find(names, to) - names.begin()));
      }
    }
    return std::string("no such row");
  };
  EXPECT_EQ(cell("node0", "node0"), "-");
  EXPECT_EQ(cell("node0", "node1"), "X");
  EXPECT_EQ(cell("node1", "node0"), "X");
  EXPECT_EQ(cell("node0", "node2"), "W");
  EXPECT_EQ(cell("node2", "node0"), "?");
  EXPECT_EQ(cell("node3", "node0"), "400");
  EXPECT_EQ(cell("node3", "node1"), "25");
  EXPECT_EQ(cell("node1", "node2"), "\u00b7");
  EXPECT_EQ(lines[6],
            "rows send, columns receive; \u00b7 within 5 % of the median; ? not measured; X failed "
            "or timed out; W wrong data");
}

TEST(PairMatrix, OfATimeLessIsSlowerToo) {
  RunData run = run_of(3);
  MetricInfo& metric = add_pairs(run, "pairs", 3, [](int from, int to) {
                         return from + to == 1 ? 4e-6 : 2e-6;
                       }).metrics.front();
  metric.unit = "s";
  metric.better = Better::lower;
  EXPECT_THAT(pair_matrices_text(run), HasSubstr(" 50"));
  EXPECT_THAT(pair_matrices_text(run), Not(HasSubstr("200")));
}

TEST(PairMatrix, TakesTheMedianOfPassesAndNotWhatWasMeasuredAgain) {
  RunData run = run_of(3);
  for (const double factor : {1.0, 1.0, 9.0}) {
    add_pairs(run, "pairs", 3, [&](int, int) { return factor * 1e9; });
  }
  SampleRecord again = sample_of_pair(run, 0, 0, 1);
  again.confirms = 0;
  again.values = {1e6};
  for (int i = 0; i < 9; ++i) {
    run.samples.push_back(again);
  }
  const std::string text = pair_matrices_text(run);
  EXPECT_THAT(text, HasSubstr("the median pair, 1.00 GB/s"));
  EXPECT_THAT(lines_of(text)[2], HasSubstr("\u00b7"));
}

TEST(PairMatrix, IsOneForEachRail) {
  RunData run = run_of(3);
  add_pairs(run, "pairs", 3, alike, "gpu1");
  add_pairs(run, "pairs", 3, alike, "gpu0");
  SampleRecord across = sample_of_pair(run, 0, 0, 1);
  across.ends = {{0, "gpu0"}, {1, "gpu1"}};
  run.samples.push_back(across);
  const std::string text = pair_matrices_text(run);
  EXPECT_LT(text.find("across rails"), text.find("rail gpu0"));
  EXPECT_LT(text.find("rail gpu0"), text.find("rail gpu1"));
  EXPECT_NE(text.find("rail gpu1"), std::string::npos);
}

TEST(PairMatrix, EscapesNamesOfNodes) {
  RunData run = run_of(3);
  run.header.nodes[1].name = "x\x1b[31m";
  add_pairs(run, "pairs", 3, alike);
  EXPECT_THAT(pair_matrices_text(run), Not(HasSubstr("\x1b")));
}

TEST(PairMatrix, WithoutAnyValueSaysSo) {
  RunData run = run_of(2);
  add_pairs(run, "pairs", 2, [](int, int) { return 0.0; });
  EXPECT_EQ(pair_matrices_text(run), "pairs.bandwidth\nno pair gave a value\n");
}

TEST(PairMatrix, StandsBelowASummaryWhereAFindingIsAboutIt) {
  const RunData run = pairs_run();
  Report report;
  EXPECT_THAT(pair_matrices_of_findings(run, report), IsEmpty());
  const auto find = [&](const std::string& metric) {
    Finding finding;
    finding.metrics = {{metric, "B/s", 1, 2, 100}};
    report.findings = {finding};
  };
  find("cpu_gemm.fp64");
  EXPECT_THAT(pair_matrices_of_findings(run, report), IsEmpty());
  for (const char* metric : {"mpi_pairs.bandwidth", "mpi_pairs.bandwidth sending"}) {
    find(metric);
    EXPECT_THAT(pair_matrices_of_findings(run, report), HasSubstr("mpi_pairs.bandwidth: speed"));
    EXPECT_THAT(pair_matrices_of_findings(run, report), Not(HasSubstr("nccl_pairs")));
  }
  report.findings.front().status = FindingStatus::not_reproduced;
  EXPECT_THAT(pair_matrices_of_findings(run, report), IsEmpty());
  find("large.bandwidth");  // 40 nodes
  EXPECT_THAT(pair_matrices_of_findings(run, report), IsEmpty());
}

// Each node with the two that follow it; a matrix of all nodes would take gigabytes.
RunData large_run() {
  constexpr int kNodes = 16384;
  RunData run = run_of(kNodes);
  add_pairs(run, "pairs", 2, alike);
  run.samples.clear();
  for (int from = 0; from < kNodes; ++from) {
    for (const int step : {1, 2}) {
      SampleRecord sample;
      sample.node = from;
      sample.peer = (from + step) % kNodes;
      sample.values = {from == 9000 ? 0.25e9 : 1e9};
      run.samples.push_back(std::move(sample));
    }
  }
  return run;
}

TEST(PairMatrix, OfALargeFleetListsTheSlowestNodes) {
  const auto lines = lines_of(pair_matrices_text(large_run()));
  ASSERT_EQ(lines.size(), 13U);
  EXPECT_EQ(lines[1],
            "16384 nodes are too many for a matrix; the 10 slowest by their median pair:");
  EXPECT_EQ(words_of(lines[3]),
            (std::vector<std::string>{"node9000", "25", "100", "4", "0", "25", "to", "node9001"}));
}

TEST(PairMatrix, OfALargeFleetDoesNotStandBelowASummary) {
  Report report;
  report.findings.emplace_back().metrics = {{"pairs.bandwidth", "B/s", 1, 2, 100}};
  EXPECT_THAT(pair_matrices_of_findings(large_run(), report), IsEmpty());
}

}  // namespace
}  // namespace fleetbench
