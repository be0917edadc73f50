#include "harness/plan/deadline.hpp"

#include <gtest/gtest.h>

namespace fleetbench::plan {
namespace {

struct Case {
  const char* what;
  std::vector<double> answered_s;
  int asked;
  std::vector<double> history_s;
  double expected_s;
};

TEST(Deadline, FollowsThePeersThenTheHistoryThenTheLimit) {
  constexpr double kLimit_s = 100;
  const Case cases[] = {
      {"nobody answered yet, nothing known", {}, 4, {}, kLimit_s},
      {"too few answered", {1, 1}, 4, {}, kLimit_s},
      {"all but one answered", {1, 1, 2}, 4, {}, 2 + kGrace_s},
      {"three times the median where that is more", {10, 10, 10}, 4, {}, 10 + 30},
      {"of twenty, two may be late", std::vector<double>(18, 1.0), 20, {}, 1 + kGrace_s},
      {"never beyond the limit", {90, 90, 90}, 4, {}, kLimit_s},
      {"one alone: earlier slots tell", {}, 1, {0.5, 0.5, 0.6}, 0.5 + kGrace_s},
      {"one alone: a single earlier slot does not", {}, 1, {0.5}, kLimit_s},
      {"nobody of several: three times the grace", {}, 4, {0.5, 0.5}, 0.5 + 3 * kGrace_s},
      {"peers of this slot count before earlier slots", {20, 20, 20}, 4, {1, 1, 1}, 20 + 60},
  };
  for (const auto& c : cases) {
    EXPECT_DOUBLE_EQ(deadline_s(c.answered_s, c.asked, c.history_s, kLimit_s), c.expected_s)
        << c.what;
  }
}

TEST(Deadline, LetsANodeBeMeasuredThatIsTwentyTimesAsSlow) {
  EXPECT_GT(deadline_s({0.25, 0.25, 0.25}, 4, {}, 60), 20 * 0.25);
}

}  // namespace
}  // namespace fleetbench::plan
