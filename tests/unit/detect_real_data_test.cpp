// Public measurements that nobody here made. What has to be found in them is what an independent
// calculation found: medians of each subject's passes against the fleet's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <sstream>

#include "harness/detect/detect.hpp"
#include "harness/record/long_csv.hpp"
#include "harness/record/sample_file.hpp"
#include "tests/unit/finding_lines.hpp"

namespace fleetbench {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

fs::path data_folder() {
  const char* folder = std::getenv("FLEETBENCH_REAL_DATA");
  return folder == nullptr ? "" : folder;
}

class RealData : public testing::Test {
 protected:
  void SetUp() override {
    if (data_folder().empty()) {
      GTEST_SKIP() << "FLEETBENCH_REAL_DATA does not name a folder with public measurements";
    }
  }
};

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The same measurements of nodes with other names, in another order.
struct Disguise {
  std::string text;
  std::map<std::string, std::string> original;  // by new name
};

Disguise disguise(const std::string& text, unsigned seed) {
  std::istringstream lines(text);
  std::string header;
  std::getline(lines, header);
  std::vector<std::string> rows;
  std::map<std::string, std::string> renamed;
  for (std::string line; std::getline(lines, line);) {
    renamed[line.substr(0, line.find(','))];
    rows.push_back(line);
  }
  std::mt19937 random(seed);
  std::vector<std::size_t> numbers(renamed.size());
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  std::shuffle(numbers.begin(), numbers.end(), random);
  std::shuffle(rows.begin(), rows.end(), random);
  Disguise result;
  for (auto& [name, number] : renamed) {
    number = "host" + std::to_string(numbers[result.original.size()]);
    result.original[number] = name;
  }
  result.text = header + "\n";
  for (const std::string& row : rows) {
    const std::size_t comma = row.find(',');
    result.text += renamed[row.substr(0, comma)] + row.substr(comma) + "\n";
  }
  return result;
}

Report report_of(const std::string& file) {
  return analyze(record::load_samples({data_folder() / file}).run);
}

Report report_of(const Disguise& disguised) {
  Report report = analyze(record::read_long_csv({{"disguised.csv", disguised.text}}).run);
  for (Finding& finding : report.findings) {
    if (!finding.subject.node.empty()) {
      finding.subject.node = disguised.original.at(finding.subject.node);
    }
  }
  return report;
}

void expect_the_same_when_disguised(const std::string& file) {
  const std::vector<std::string> expected = lines_of(report_of(file));
  const std::string text = text_of(data_folder() / file);
  for (const unsigned seed : {1U, 2U}) {
    EXPECT_EQ(lines_of(report_of(disguise(text, seed))), expected) << "seed " << seed;
  }
}

std::vector<Finding> slow_findings(const Report& report) {
  std::vector<Finding> slow;
  std::ranges::copy_if(report.findings, std::back_inserter(slow),
                       [](const Finding& finding) { return finding.direction == Direction::slow; });
  return slow;
}

// Nodes with a slow finding, of their own or of a device, in the order in which they are named.
std::vector<std::string> slow_nodes(const Report& report) {
  std::vector<std::string> nodes;
  for (const Finding& finding : slow_findings(report)) {
    if (std::ranges::find(nodes, finding.subject.node) == nodes.end()) {
      nodes.push_back(finding.subject.node);
    }
  }
  return nodes;
}

TEST_F(RealData, FourGpusAreSlowBeyondTheirClockAndOneBecauseOfIt) {
  const Report report = report_of("longhorn_sgemm.csv");
  const std::vector<Finding> slow = slow_findings(report);
  std::vector<std::string> beyond;
  std::vector<std::string> because;
  for (const Finding& finding : slow) {
    (finding.explained_by_covariates.empty() ? beyond : because).push_back(finding.subject.node);
  }
  EXPECT_THAT(beyond,
              UnorderedElementsAre("GPU-87570fdd", "GPU-bf17fd1b", "GPU-8ebc1398", "GPU-01f6142b"));
  ASSERT_THAT(because, ElementsAre("GPU-8bd5126e"));
  EXPECT_EQ(slow.back().subject.node, "GPU-8bd5126e");
  EXPECT_THAT(slow.back().explained_by_covariates, Contains(HasSubstr("sm_clock")));
}

TEST_F(RealData, SgemmFindingsDependOnNoNameOrOrder) {
  expect_the_same_when_disguised("longhorn_sgemm.csv");
}

TEST_F(RealData, ThreeNodesTrainSlowly) {
  const Report report = report_of("longhorn_resnet.csv");
  const std::vector<std::string> nodes = slow_nodes(report);
  const std::vector<std::string> outliers{"c007-12", "c006-12", "c008-8"};
  SCOPED_TRACE(testing::PrintToString(lines_of(report)));
  ASSERT_GE(nodes.size(), outliers.size());
  EXPECT_EQ(std::vector(nodes.begin(), nodes.begin() + 3), outliers);
  for (const std::string& outlier : outliers) {
    EXPECT_TRUE(std::ranges::any_of(slow_findings(report), [&](const Finding& finding) {
      return finding.subject.node == outlier && is_sure(finding);
    })) << outlier;
  }
  // The next three lie between what is sure and what nobody may be blamed for.
  const std::vector<std::string> others(nodes.begin() + 3, nodes.end());
  EXPECT_THAT(others, Each(AnyOf("c006-1", "c004-11", "c008-3")));
}

TEST_F(RealData, ResnetFindingsDependOnNoNameOrOrder) {
  expect_the_same_when_disguised("longhorn_resnet.csv");
}

TEST_F(RealData, OneNodeOfBertMayBeCalledAndNoOther) {
  EXPECT_THAT(slow_nodes(report_of("longhorn_bert.csv")), Each("c002-5"));
}

TEST_F(RealData, BertFindingsDependOnNoNameOrOrder) {
  expect_the_same_when_disguised("longhorn_bert.csv");
}

TEST_F(RealData, SingleValuesAreNeverMoreThanTentative) {
  const Report report = report_of("azure_fio_64k.csv");
  EXPECT_EQ(report.nodes, 8484);
  for (const Finding& finding : report.findings) {
    EXPECT_FALSE(is_sure(finding)) << line_of(finding);
  }
}

TEST_F(RealData, FioFindingsDependOnNoNameOrOrder) {
  expect_the_same_when_disguised("azure_fio_64k.csv");
}

}  // namespace
}  // namespace fleetbench
