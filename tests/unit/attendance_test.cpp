#include "harness/fleet/attendance.hpp"

#include <gtest/gtest.h>

#include <variant>

#include "tests/unit/heard.hpp"

namespace fleetbench::fleet {
namespace {

// Node i has rank 10 i, node 1 also rank 11.
class AttendanceTest : public testing::Test {
 protected:
  static std::vector<NodeInfo> three() {
    std::vector<NodeInfo> nodes(3);
    for (int i = 0; i < 3; ++i) {
      nodes[i].index = i;
      nodes[i].name = "n" + std::to_string(i);
      nodes[i].ranks = {10 * i};
    }
    nodes[1].ranks.push_back(11);
    return nodes;
  }

  const std::vector<NodeInfo> nodes_ = three();
  Heard heard_;
  Attendance attendance_{nodes_, heard_, heard_};
};

using Fit = std::vector<bool>;

TEST_F(AttendanceTest, ALostRankTakesItsNodeWithIt) {
  attendance_.lose(11, {.slot = 7, .step = "cpu_gemm", .phase = "measure"}, "not a word");
  EXPECT_TRUE(attendance_.is_lost(11));
  EXPECT_FALSE(attendance_.is_lost(10));
  EXPECT_EQ(attendance_.gone(), (Fit{false, true, false}));
  EXPECT_EQ(attendance_.ranks(), (std::vector<int>{0, 10, 20}));
  ASSERT_EQ(heard_.records.size(), 1U);
  const auto& loss = std::get<LossRecord>(heard_.records[0]);
  EXPECT_EQ(loss.rank, 11);
  EXPECT_EQ(loss.node, 1);
  EXPECT_EQ(loss.slot, 7);
  EXPECT_EQ(loss.phase, "measure");
  EXPECT_EQ(heard_.notes,
            (std::vector<std::string>{"lost: rank 11 on n1 (measure of cpu_gemm): not a word"}));
}

TEST_F(AttendanceTest, ANodeThatNeverCameHasNoRank) {
  attendance_.miss(2, "it did not come up");
  EXPECT_TRUE(attendance_.is_gone(2));
  const auto& loss = std::get<LossRecord>(heard_.records.at(0));
  EXPECT_FALSE(loss.rank);
  EXPECT_EQ(loss.phase, "launch");
}

TEST_F(AttendanceTest, WhoIsStuckIsLeftOutAsLongAsOthersAreFree) {
  attendance_.set_stuck(1);
  EXPECT_EQ(attendance_.unfit_for("pairs"), (Fit{false, true, false}));
  EXPECT_EQ(attendance_.unfit_for("pairs"), (Fit{false, true, false}));
  ASSERT_EQ(heard_.records.size(), 1U) << "it is told once a step";
  EXPECT_EQ(std::get<OmissionRecord>(heard_.records[0]).step, "pairs");
  EXPECT_NE(heard_.notes.at(0).find("on n1:"), std::string::npos);
  EXPECT_EQ(attendance_.gone(), (Fit{false, false, false})) << "other steps measure it";
  attendance_.set_stuck(0);
  attendance_.lose(20, {}, "it is gone");
  EXPECT_EQ(attendance_.unfit_for("groups"), (Fit{false, false, true}))
      << "they are like each other";
}

TEST_F(AttendanceTest, GivenUpRanksAreAskedNothing) {
  attendance_.give_up({10, 11, 20});
  EXPECT_EQ(attendance_.gone(), (Fit{true, true, true}));
  EXPECT_EQ(attendance_.ranks(), (std::vector<int>{0}));
  EXPECT_TRUE(heard_.records.empty());
}

}  // namespace
}  // namespace fleetbench::fleet
