#include "harness/fleet/culprits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fleetbench::fleet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Json kOk{{"status", "ok"}};
const Json kLost;
const Json kDied{{"status", "failed"}, {"reason", "signal 9"}};
const Json kSilent{{"status", "timeout"}, {"reason", "no answer within 5 s"}};
const Json kForsakenOne{{"status", "timeout"}, {kForsaken, true}};

Json waited(int done, const char* phase = "all_reduce") {
  return {{"status", "timeout"}, {"detail", {{"phase", phase}, {"calls_done", done}}}};
}

Json failed(bool remote) {
  const char* reason = remote ? "ncclAllReduce: remote process exited or there was a network error"
                              : "ncclAllReduce: unhandled system error";
  return {{"status", "failed"},
          {"reason", reason},
          {"detail", {{"phase", "all_reduce"}, {"calls_done", 4}}}};
}

TEST(Culprits, NobodyWhereAllSucceeded) { EXPECT_THAT(culprits({kOk, kOk}), IsEmpty()); }

TEST(Culprits, AreWhoIsLostDiedFailedByItselfOrIsSilentInThisOrder) {
  EXPECT_THAT(culprits({waited(4), kLost, kDied, kSilent}), ElementsAre(1));
  EXPECT_THAT(culprits({waited(4), failed(true), kDied, kSilent}), ElementsAre(2));
  EXPECT_THAT(culprits({waited(4), failed(true), failed(false), kSilent}), ElementsAre(2));
  EXPECT_THAT(culprits({waited(4), failed(true), kSilent, waited(4)}), ElementsAre(2));
  EXPECT_THAT(culprits({kOk, kOk, kSilent}), ElementsAre(2));
}

TEST(Culprits, OfThoseWhoWaitedIsWhoseCallsAreFewer) {
  EXPECT_THAT(culprits({waited(4), waited(3), waited(4)}), ElementsAre(1));
  EXPECT_THAT(culprits({waited(4), failed(true), waited(3)}), ElementsAre(2));
}

TEST(Culprits, CannotBeToldWhereAllAreAlike) {
  EXPECT_THAT(culprits({waited(4), waited(4)}), IsEmpty());
  EXPECT_THAT(culprits({waited(4), failed(true), waited(4)}), IsEmpty());
  EXPECT_THAT(culprits({kDied, kDied}), IsEmpty());
  EXPECT_THAT(culprits({kSilent, kSilent}), IsEmpty());
}

TEST(Culprits, CannotBeToldByCallsOfSeveralPhasesNorAgainstHalf) {
  EXPECT_THAT(culprits({waited(4), waited(0, "init"), waited(4)}), IsEmpty());
  EXPECT_THAT(culprits({waited(4), waited(4), waited(3), waited(3)}), IsEmpty());
}

TEST(Culprits, WhoWasGivenUpForAnothersSakeIsNone) {
  EXPECT_THAT(culprits({kForsakenOne, kLost, kForsakenOne}), ElementsAre(1));
  EXPECT_THAT(culprits({kForsakenOne, waited(4)}), IsEmpty());
}

}  // namespace
}  // namespace fleetbench::fleet
