#include "harness/fleet/timeouts.hpp"

#include <gtest/gtest.h>

namespace fleetbench::fleet {
namespace {

TEST(Timeouts, APartyIsLeftOutOfTheStepAfterTwo) {
  Timeouts timeouts;
  EXPECT_FALSE(timeouts.add(0, 1, {2}));
  EXPECT_FALSE(timeouts.left_out(0, {2}));
  EXPECT_TRUE(timeouts.add(0, 2, {2}));
  EXPECT_TRUE(timeouts.left_out(0, {2}));
  EXPECT_FALSE(timeouts.left_out(1, {2}));
  EXPECT_FALSE(timeouts.left_out(0, {3}));
}

TEST(Timeouts, BothEndsOfAPairReportTheSame) {
  Timeouts timeouts;
  EXPECT_FALSE(timeouts.add(0, 1, {2, 3}));
  EXPECT_FALSE(timeouts.add(0, 1, {3, 2}));
  EXPECT_TRUE(timeouts.add(0, 4, {3, 2}));
}

TEST(Timeouts, ItIsToldOnce) {
  Timeouts timeouts;
  timeouts.add(0, 1, {2});
  EXPECT_TRUE(timeouts.add(0, 2, {2}));
  EXPECT_FALSE(timeouts.add(0, 3, {2}));
}

}  // namespace
}  // namespace fleetbench::fleet
