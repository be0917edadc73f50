// Public logs of nccl-tests on every pair of 17 nodes, which nobody here made. What has to be found
// in them: two blocks, eight slow pairs of single GPUs, and one account of all that is slow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <sstream>

#include "harness/detect/detect.hpp"
#include "harness/record/nccl_tests.hpp"
#include "tests/unit/finding_lines.hpp"

namespace fleetbench {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

using Logs = std::vector<record::SourceText>;

Logs logs_in(const fs::path& folder) {
  Logs logs;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".log") {
      std::ifstream file(entry.path(), std::ios::binary);
      std::stringstream text;
      text << file.rdbuf();
      logs.push_back({entry.path().filename().string(), text.str()});
    }
  }
  std::ranges::sort(logs, {}, &record::SourceText::name);
  return logs;
}

std::string node_name(int number) { return fmt::format("cnode2-{:03}", number); }

// All nodes of the data, "cnode2-001" to "cnode2-017", by new name.
std::map<std::string, std::string> disguise(Logs& logs, unsigned seed) {
  constexpr int kNodes = 17;
  std::mt19937 random(seed);
  std::vector<int> numbers(kNodes);
  std::iota(numbers.begin(), numbers.end(), 101);
  std::ranges::shuffle(numbers, random);
  std::map<std::string, std::string> original;
  for (auto& log : logs) {
    for (int node = 1; node <= kNodes; ++node) {
      const std::string old = node_name(node);
      const std::string renamed = fmt::format("host-x{:03}", numbers[node - 1]);
      original[renamed] = old;
      for (std::size_t at = log.text.find(old); at != std::string::npos; at = log.text.find(old)) {
        log.text.replace(at, old.size(), renamed);
      }
    }
  }
  std::ranges::shuffle(logs, random);
  return original;
}

class RealPairs : public testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("FLEETBENCH_REAL_DATA");
    if (folder == nullptr) {
      GTEST_SKIP() << "FLEETBENCH_REAL_DATA does not name a folder with public measurements";
    }
    Logs logs = logs_in(fs::path(folder) / "nccl_pairs_17_nodes");
    ASSERT_FALSE(logs.empty());
    if (GetParam() > 0) {
      original_ = disguise(logs, GetParam());
    }
    report_ = analyze(record::read_nccl_tests(std::move(logs)).run);
  }

  std::string original(const std::string& name) const {
    const auto found = original_.find(name);
    return found == original_.end() ? name : found->second;
  }

  std::set<std::string> originals(const std::vector<std::string>& names) const {
    std::set<std::string> result;
    for (const std::string& name : names) {
      result.insert(original(name));
    }
    return result;
  }

  std::vector<const Finding*> slow() const {
    std::vector<const Finding*> findings;
    for (const Finding& finding : report_.findings) {
      if (is_slow(finding)) {
        findings.push_back(&finding);
      }
    }
    return findings;
  }

  Report report_;
  std::map<std::string, std::string> original_;
};

std::set<std::string> nodes_numbered(const std::vector<int>& numbers) {
  std::set<std::string> names;
  for (const int number : numbers) {
    names.insert(node_name(number));
  }
  return names;
}

const std::vector<int> kFirstBlock{1, 2, 3, 4, 6, 9, 12, 16, 17};
const std::vector<int> kSecondBlock{5, 7, 8, 10, 11, 13, 14, 15};

TEST_P(RealPairs, TwoBlocksAreTopology) {
  ASSERT_FALSE(report_.blocks.empty());
  for (const Blocks& blocks : report_.blocks) {
    EXPECT_THAT(blocks.metric, HasSubstr("alltoall 2 nodes x 8 GPUs"));
    std::vector<std::set<std::string>> sides;
    for (const auto& nodes : blocks.nodes) {
      sides.push_back(originals(nodes));
    }
    EXPECT_THAT(sides,
                UnorderedElementsAre(nodes_numbered(kFirstBlock), nodes_numbered(kSecondBlock)));
  }
}

TEST_P(RealPairs, OneRailOfTheFirstBlockIsAllThatIsSlow) {
  ASSERT_EQ(slow().size(), 1U) << testing::PrintToString(lines_of(report_));
  const Finding& finding = *slow().front();
  EXPECT_EQ(finding.subject.kind, "rail");
  EXPECT_EQ(finding.subject.rail, "9d");
  EXPECT_EQ(originals(finding.subject.nodes), nodes_numbered(kFirstBlock));
  ASSERT_TRUE(finding.counts);
  EXPECT_EQ(finding.counts->slow_others, 0);
}

// Also not on the 4-GPU sendrecv, where a median polish over nodes blames node 003.
TEST_P(RealPairs, NoNodeIsSlow) {
  for (const Finding* finding : slow()) {
    EXPECT_TRUE(finding->subject.node.empty()) << line_of(*finding);
  }
}

TEST_P(RealPairs, TheEightSlowPairsOfSingleGpusAreListed) {
  const std::vector<std::pair<int, int>> pairs{{11, 12}, {13, 16}, {1, 4}, {2, 3},
                                               {2, 6},   {4, 9},   {4, 6}, {13, 17}};
  ASSERT_FALSE(slow().empty());
  for (const auto& [a, b] : pairs) {
    const bool listed = std::ranges::any_of(slow().front()->evidence, [&](const Evidence& one) {
      if (one.text.find("1 GPU") == std::string::npos || !one.text.starts_with("slow in")) {
        return false;
      }
      std::string text = one.text;
      for (const auto& [renamed, name] : original_) {
        if (const auto at = text.find(renamed); at != std::string::npos) {
          for (auto next = at; next != std::string::npos; next = text.find(renamed)) {
            text.replace(next, renamed.size(), name);
          }
        }
      }
      return text.find(node_name(a) + " - " + node_name(b)) != std::string::npos ||
             text.find(node_name(b) + " - " + node_name(a)) != std::string::npos;
    });
    EXPECT_TRUE(listed) << a << " " << b;
  }
}

TEST_P(RealPairs, FailedTestsAreMissingAndNotSlow) {
  std::set<std::set<std::string>> missing;
  for (const Finding& finding : report_.findings) {
    if (finding.direction == Direction::missing && finding.subject.kind == "link") {
      missing.insert({original(finding.subject.a), original(finding.subject.b)});
    }
  }
  for (const auto& [a, b] : {std::pair(5, 16), std::pair(7, 16), std::pair(2, 8)}) {
    EXPECT_TRUE(missing.contains({node_name(a), node_name(b)})) << a << " " << b;
  }
}

INSTANTIATE_TEST_SUITE_P(Disguised, RealPairs, testing::Values(0U, 1U, 2U));

}  // namespace
}  // namespace fleetbench
