// Tables of a few rows: what is called far from the peers, and how far.
#include <gtest/gtest.h>

#include "harness/detect/closer.hpp"
#include "harness/detect/judge.hpp"

namespace fleetbench::detect {
namespace {

Table table_of(const std::vector<std::vector<double>>& rows) {
  Table table;
  table.metric = "m";
  table.info.layer = Layer::host;
  for (std::size_t pass = 0; pass < rows.at(0).size(); ++pass) {
    table.passes.push_back(static_cast<int>(pass));
  }
  for (const auto& values : rows) {
    table.add_row({.node = static_cast<int>(table.rows.size())});
    std::ranges::copy(values, table.values(table.rows.size() - 1).begin());
  }
  return table;
}

Judged judge(const Table& table) {
  Names names;
  for (std::size_t node = 0; node < table.rows.size(); ++node) {
    names.nodes.push_back("n" + std::to_string(node));
    names.cohorts.push_back(0);
  }
  return judge_all({table}, names, {}).at(0);
}

TEST(Judge, ASlowdownHasToRemainWithoutItsWorstPass) {
  const Judged lasting = judge(table_of({{1, 1, 1}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}));
  EXPECT_TRUE(look_closer(lasting, 0).lasting);
  EXPECT_EQ(look_closer(lasting, 0).slow_passes, 3U);
  const Judged burst = judge(table_of({{3, 0}, {0, 0}, {0, 0}, {0, 0}}));
  EXPECT_NEAR(burst.rows[0].slowdown, 1.5, 1e-12);
  EXPECT_FALSE(look_closer(burst, 0).lasting);
  const Judged single = judge(table_of({{1}, {0}, {0}, {0}}));
  EXPECT_FALSE(look_closer(single, 0).lasting);
}

TEST(Judge, NeedsThreeSubjectsWithValues) {
  const Judged judged = judge(table_of({{1, 1}, {0, 0}, {kAbsent, kAbsent}}));
  for (const Judgement& judgement : judged.rows) {
    EXPECT_FALSE(judgement.judged);
  }
}

TEST(Judge, ANoisySubjectIsLessSureToBeSlow) {
  const Judged steady = judge(table_of({{.5, .5, .5}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}));
  const Judged noisy = judge(table_of({{.1, .5, .9}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}));
  EXPECT_GT(steady.rows[0].z, 1.3 * noisy.rows[0].z);
}

TEST(Table, RemovesTheDriftThatAllShare) {
  Table table = table_of({{1, 2, 9}, {1.1, 2.1, 9.1}, {1.5, 2.5, kAbsent}});
  remove_drift(table);
  EXPECT_NEAR(table.values(0)[0], table.values(0)[1], 1e-12);
  EXPECT_NEAR(table.values(2)[0] - table.values(0)[0], 0.5, 1e-12);
  EXPECT_EQ(table.values(0)[2], 9) << "two subjects do not tell a drift";
}

}  // namespace
}  // namespace fleetbench::detect
