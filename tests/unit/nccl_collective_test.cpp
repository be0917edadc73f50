// The arithmetic of nccl-tests: what its columns and its average follow from.
#include "harness/record/nccl_collective.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "harness/record/nccl_log.hpp"
#include "harness/record/nccl_tests.hpp"
#include "tests/unit/nccl_example.hpp"

namespace fleetbench::record {
namespace {

namespace fs = std::filesystem;

TEST(NcclCollective, ProgramsAreFoundInCommandsAndLines) {
  EXPECT_EQ(nccl_program("+ mpirun -np 2 build/all_reduce_perf -b 64K"), "all_reduce");
  EXPECT_EQ(nccl_program("# Collective test starting: alltoall_perf"), "alltoall");
  EXPECT_EQ(nccl_program("/opt/sendrecv_perf"), "sendrecv");
  for (const char* none : {"", "_perf", "all_reduce_perfect", "perf", "-_perf"}) {
    EXPECT_EQ(nccl_program(none), "") << none;
  }
}

TEST(NcclCollective, VersionsAreWrittenAsPeopleWriteThem) {
  EXPECT_EQ(nccl_version(22807), "2.28.7");
  EXPECT_EQ(nccl_version(21903), "2.19.3");
  EXPECT_EQ(nccl_version(2804), "2.8.4");
  EXPECT_EQ(nccl_version(0), "");
}

// Source: nccl-tests, doc/PERFORMANCE.md.
TEST(NcclCollective, BusBandwidthIsAlgorithmBandwidthTimesAFactor) {
  struct Case {
    const char* collective;
    std::size_t nranks;
    double factor;
  };
  for (const auto& [collective, nranks, factor] :
       {Case{"all_reduce", 2, 1}, Case{"all_reduce", 16, 1.875}, Case{"all_gather", 8, 0.875},
        Case{"reduce_scatter", 4, 0.75}, Case{"alltoall", 16, 0.9375}, Case{"all_to_all", 2, 0.5},
        Case{"broadcast", 8, 1}, Case{"reduce", 8, 1}, Case{"sendrecv", 8, 1},
        Case{"gather", 4, 0.75}, Case{"scatter", 4, 0.75}}) {
    EXPECT_NEAR(*nccl_busbw_factor(collective, nranks), factor, 1e-12) << collective;
    // 1 GiB in 100 ms are 10.737 GB/s.
    const NcclRow row{.size_bytes = 1U << 30U};
    const NcclFigure figure{1e5, 10.74, std::round(1073.741824 * factor) / 100, 0};
    EXPECT_NEAR(nccl_busbw(row, figure, factor), 10.73741824 * factor, 1e-9) << collective;
  }
  EXPECT_EQ(nccl_busbw_factor("hypercube", 8), std::nullopt);
  EXPECT_EQ(nccl_busbw_factor("all_reduce", 0), std::nullopt);
}

TEST(NcclCollective, ThePrintedFigureStandsWhereItIsFinerOrDoesNotAgree) {
  const NcclRow small{.size_bytes = 8};
  EXPECT_NEAR(nccl_busbw(small, {20.34, 0.00, 0.00, 0}, 1), 8 / 20.34e3, 1e-12);
  const NcclRow large{.size_bytes = 17179869184};
  EXPECT_EQ(nccl_busbw(large, {1.6e7, 1.09, 1.09, 0}, 1), 1.09);
  const NcclRow other{.size_bytes = 65536};
  EXPECT_EQ(nccl_busbw(other, {38.9, 1.26, 1.26, 0}, 1), 1.26);
  EXPECT_EQ(nccl_busbw(other, {38.9, 1.26, 1.26, 0}, std::nullopt), 1.26);
  EXPECT_EQ(nccl_busbw(other, {0, 1.26, 1.26, 0}, 1), 1.26);
}

std::string concluded(const NcclExample& example) {
  NcclProblems problems;
  auto runs = read_nccl_log({"x", text_of(example)}, 0, problems);
  runs.at(0).collective.clear();
  return nccl_collective(runs[0]);
}

TEST(NcclCollective, AnUnnamedOneIsConcludedWhereOnlyOneFits) {
  const auto like = [](const char* redop, int root, double factor, const char* in_place) {
    return concluded({.redop = redop, .root = root, .factor = factor, .in_place_wrong = in_place});
  };
  EXPECT_EQ(like("sum", -1, 1.5, "0"), "all_reduce");
  EXPECT_EQ(like("sum", -1, 0.75, "0"), "reduce_scatter");
  EXPECT_EQ(like("none", -1, 0.75, "0"), "all_gather");
  EXPECT_EQ(like("none", -1, 0.75, "N/A"), "alltoall");
  EXPECT_EQ(like("sum", -1, 1, "N/A"), "sendrecv");
  EXPECT_EQ(like("none", 0, 1, "0"), "broadcast");
  EXPECT_EQ(like("sum", 0, 1, "0"), "reduce");
  EXPECT_EQ(like("none", 0, 0.75, "0"), "") << "gather or scatter";
  EXPECT_EQ(like("none", -1, 1.3, "0"), "") << "nothing that is known";
}

class NcclRealLogs : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("FLEETBENCH_REAL_DATA");
    if (folder == nullptr) {
      GTEST_SKIP() << "FLEETBENCH_REAL_DATA does not name a folder with public measurements";
    }
    for (const auto& entry : fs::directory_iterator(fs::path(folder) / "nccl_pairs_17_nodes")) {
      std::ifstream file(entry.path(), std::ios::binary);
      sources_.push_back({entry.path().filename().string(),
                          std::string(std::istreambuf_iterator<char>(file), {})});
    }
  }

  std::vector<SourceText> sources_;
};

// Half of the last digit: times have six or seven, from 1e7 us on two.
double half_step_us(double time_us) { return time_us < 1e7 ? 0.5 : 0.5e6; }

void expect_printed_columns(const NcclRun& run, const NcclRow& row, const NcclFigure& figure) {
  const double factor = *nccl_busbw_factor(run.collective, run.nranks());
  const double algbw = static_cast<double>(row.size_bytes) / figure.time_us * 1e-3;
  const double doubt = 1.06 * half_step_us(figure.time_us) / figure.time_us;
  EXPECT_NEAR(figure.algbw_GB_s, algbw, 0.0051 + algbw * doubt);
  EXPECT_NEAR(figure.busbw_GB_s, algbw * factor, 0.0051 + algbw * factor * doubt);
  EXPECT_NEAR(nccl_busbw(row, figure, factor), figure.busbw_GB_s,
              0.0051 + figure.busbw_GB_s * doubt);
}

// How far the average may be off where it is made of rounded figures.
double rounding_of_average(const NcclRun& run) {
  double sum = 0;
  for (const NcclRow& row : run.rows) {
    for (const NcclFigure& figure : {row.out_of_place, row.in_place}) {
      sum += std::min(0.005, figure.busbw_GB_s * half_step_us(figure.time_us) / figure.time_us);
    }
  }
  return sum / (2.0 * static_cast<double>(run.rows.size())) + 0.5e-5 * *run.average_GB_s;
}

TEST_F(NcclRealLogs, ColumnsAndAveragesFollowFromSizesAndTimes) {
  int complete = 0;
  for (const SourceText& source : sources_) {
    SCOPED_TRACE(source.name);
    NcclProblems problems;
    for (NcclRun& run : read_nccl_log(source, 0, problems)) {
      for (const NcclRow& row : run.rows) {
        expect_printed_columns(run, row, row.out_of_place);
        expect_printed_columns(run, row, row.in_place);
      }
      if (run.complete) {
        ++complete;
        EXPECT_EQ(run.rows.size(), 10U);
        EXPECT_NEAR(nccl_average(run), *run.average_GB_s, rounding_of_average(run));
        const std::string named = std::exchange(run.collective, "");
        EXPECT_EQ(nccl_collective(run), named);
      }
    }
  }
  EXPECT_EQ(complete, 776);
}

TEST_F(NcclRealLogs, AllAreReadAtOnceAndFailuresAreMissing) {
  const auto begin = std::chrono::steady_clock::now();
  const ImportedSamples result = read_nccl_tests(sources_);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(took.count(), 5) << "a tenth of a second, where nothing else runs";
  EXPECT_EQ(result.run.header.nodes.size(), 17U);
  EXPECT_EQ(result.run.steps.size(), 6U);
  std::size_t failed = 0;
  for (const SampleRecord& sample : result.run.samples) {
    EXPECT_TRUE(sample.peer);
    failed += sample.status == Status::ok ? 0 : 1;
    EXPECT_EQ(sample.ends.size() % 2, 0U);
  }
  EXPECT_EQ(result.run.samples.size(), 810U);
  EXPECT_EQ(failed, 34U);
}

}  // namespace
}  // namespace fleetbench::record
