#include "harness/report/collectives_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "results-schema/collective_rule.hpp"
#include "tests/unit/collectives_run.hpp"

namespace fleetbench {
namespace {

struct ParsedRow {
  double bytes, count, time_us, algbw, busbw, wrong;
  std::string redop, root;
};

struct ParsedTable {
  std::string collective;
  std::vector<ParsedRow> rows;
  double average = 0;
  double out_of_bounds = -1;
  std::string judgement;
};

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

// As programs read nccl-tests' logs: rows are lines that begin with a number, split at spaces.
std::vector<ParsedTable> parsed(const std::string& text) {
  std::vector<ParsedTable> tables;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_FALSE(line.ends_with(' ')) << line;
    const auto words = words_of(line);
    if (line.starts_with("# Collective test starting: ")) {
      tables.push_back({words.back(), {}, 0, -1, ""});
    } else if (line.starts_with("# Avg bus bandwidth    : ")) {
      tables.back().average = words.back() == "N/A" ? 0 : std::stod(words.back());
    } else if (line.starts_with("# Out of bounds values : ")) {
      tables.back().out_of_bounds = std::stod(words[words.size() - 2]);
      tables.back().judgement = words.back();
    } else if (!line.empty() && line[0] != '#') {
      EXPECT_EQ(words.size(), 13U) << line;
      EXPECT_EQ(words[2], "float");
      for (std::size_t i = 9; i < 13; ++i) {
        EXPECT_EQ(words.at(i), "N/A");
      }
      tables.back().rows.push_back({std::stod(words[0]), std::stod(words[1]), std::stod(words[5]),
                                    std::stod(words[6]), std::stod(words[7]), std::stod(words[8]),
                                    words[3], words[4]});
    }
  }
  return tables;
}

TEST(CollectivesTable, IsReadByTheRulesOfNcclTests) {
  const auto tables = parsed(collectives_table(collectives_run()));
  ASSERT_EQ(tables.size(), 5U + 2);
  const auto& rules = collective_rules();
  for (std::size_t i = 0; i < 5; ++i) {
    const ParsedTable& table = tables[i];
    EXPECT_EQ(table.collective, rules[i].name);
    ASSERT_EQ(table.rows.size(), rules[i].shared_out ? 2U : 3U) << "8 bytes are too few for four";
    const ParsedRow& largest = table.rows.back();
    EXPECT_EQ(largest.bytes, 1 << 20);
    EXPECT_EQ(largest.count, (1 << 18) / (rules[i].shared_out ? 4 : 1));
    EXPECT_EQ(largest.redop, rules[i].redop);
    EXPECT_EQ(largest.root, std::to_string(rules[i].root));
    // The mean over four ranks that took 0, 1, 2 and 3 % longer.
    EXPECT_NEAR(largest.time_us, (10 + 1048.576) * 1.015, 0.06);
    EXPECT_NEAR(largest.algbw, 1048.576 / largest.time_us, 0.005);
    EXPECT_NEAR(largest.busbw, largest.algbw * rules[i].busbw_factor(4), 0.011);
    double sum = 0;
    for (const ParsedRow& row : table.rows) {
      sum += row.busbw;
    }
    EXPECT_NEAR(table.average, sum / static_cast<double>(table.rows.size()), 0.006);
  }
}

TEST(CollectivesTable, CountsWrongElements) {
  const auto tables = parsed(collectives_table(collectives_run()));
  ASSERT_EQ(tables.size(), 7U);
  EXPECT_EQ(tables[0].rows[0].wrong, 0);
  EXPECT_EQ(tables[0].rows[1].wrong, 3);
  EXPECT_EQ(tables[0].out_of_bounds, 3);
  EXPECT_EQ(tables[0].judgement, "FAILED");
  EXPECT_EQ(tables[1].out_of_bounds, 0);
  EXPECT_EQ(tables[1].judgement, "OK");
}

TEST(CollectivesTable, GroupsHaveTheirOwn) {
  const std::string text = collectives_table(collectives_run());
  const auto tables = parsed(text);
  ASSERT_EQ(tables.size(), 7U);
  for (std::size_t i = 5; i < 7; ++i) {
    EXPECT_NEAR(tables[i].rows.back().busbw, tables[i].rows.back().algbw, 1e-9);
  }
  EXPECT_NE(text.find("#  Rank  0 Group  0 on      node2\n#  Rank  1 Group  0 on      node0\n"),
            std::string::npos);
  EXPECT_NE(text.find("bad\\x1b[31m\\nname"), std::string::npos);
}

TEST(CollectivesTable, WhatIsNoFigureIsLeftOut) {
  EXPECT_EQ(collectives_table(RunData{}), "");
  struct Case {
    const char* key;
    Json value;
  };
  for (const Case& c : {Case{"members", 0}, Case{"members", "four"}, Case{"bytes", 3},
                        Case{"bytes", Json::array({"x"})}, Case{"bytes", Json::array({-5})},
                        Case{"bytes", Json::array({1e300})}}) {
    RunData run = collectives_run();
    for (SampleRecord& sample : run.samples) {
      sample.detail[c.key] = c.value;
    }
    for (const ParsedTable& table : parsed(collectives_table(run))) {
      EXPECT_TRUE(table.rows.empty()) << c.key;
    }
  }
  RunData run = collectives_run();
  for (SampleRecord& sample : run.samples) {
    sample.detail = nullptr;
  }
  EXPECT_EQ(collectives_table(run), "");
}

TEST(CollectivesTable, ARowWithoutATimeSaysSo) {
  RunData run = collectives_run();
  std::erase_if(run.samples,
                [](const SampleRecord& sample) { return sample.status == Status::ok; });
  const std::string text = collectives_table(run);
  EXPECT_NE(
      text.find("        4096          1024     float     sum      -1      N/A     N/A     N/A"
                "       3      N/A     N/A     N/A     N/A\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("# Avg bus bandwidth    : N/A\n"), std::string::npos);
}

TEST(CollectivesTable, FiguresKeepTheirColumnsHoweverLarge) {
  const std::map<double, std::string> times{{1e-9, "   0.00"},      {99.994e-6, "  99.99"},
                                            {9999.1e-6, "9999.10"}, {99999.4e-6, "99999.4"},
                                            {0.9999994, " 999999"}, {9.999999, "9999999"},
                                            {12.3, "1.2e+07"}};
  for (const auto& [time_s, shown] : times) {
    RunData run = collectives_run();
    run.steps.resize(1);
    std::erase_if(run.samples, [](const SampleRecord& sample) { return sample.step > 0; });
    for (SampleRecord& sample : run.samples) {
      sample.detail["time_s"] = Json::array({time_s});
    }
    EXPECT_NE(collectives_table(run).find("      -1  " + shown + "  "), std::string::npos)
        << time_s;
  }
}

// Two nodes of two GPUs: by themselves, then each rail.
RunData run_of_gpus(bool rails) {
  RunData run = collectives_run();
  run.steps = {run.steps[1]};
  StepRecord& step = run.steps[0];
  step.step = 0;
  step.probe = "nccl_collectives";
  for (MetricInfo& metric : step.metrics) {
    metric.subject = rails ? SubjectKind::group : SubjectKind::node;
  }
  SampleRecord sample = run.samples[1];
  run.samples.clear();
  sample.step = 0;
  sample.group.clear();
  for (int node = 0; node < 2; ++node) {
    for (const char* gpu : {"gpu0", "gpu1"}) {
      sample.node = node;
      sample.device = gpu;
      sample.ends = rails ? std::vector<End>{{0, gpu}, {1, gpu}} : std::vector<End>();
      run.samples.push_back(sample);
    }
  }
  return run;
}

TEST(CollectivesTable, OfGpusHasOneForEachNodeOrRail) {
  for (const bool rails : {false, true}) {
    const std::string text = collectives_table(run_of_gpus(rails));
    EXPECT_EQ(parsed(text).size(), 2U) << text;
    const std::string second = text.substr(text.rfind("# Using devices\n"));
    EXPECT_TRUE(second.starts_with(rails ? "# Using devices\n"
                                           "#  Rank  0 Group  0 on      node0 device  1\n"
                                           "#  Rank  1 Group  0 on      node1 device  1\n#\n"
                                         : "# Using devices\n"
                                           "#  Rank  0 Group  0 on      node1 device  0\n"
                                           "#  Rank  1 Group  0 on      node1 device  1\n#\n"))
        << second;
    EXPECT_NE(text.find("nThread 1 nGpus 1 "), std::string::npos);
    EXPECT_NE(text.find("# Calls of NCCL on device memory"), std::string::npos);
    EXPECT_EQ(text.find("MPI"), std::string::npos);
  }
}

}  // namespace
}  // namespace fleetbench
