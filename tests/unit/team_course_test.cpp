#include "harness/fleet/team_course.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/fleet/culprits.hpp"
#include "harness/fleet/gpu_runner.hpp"
#include "tests/unit/team_course_fixture.hpp"

namespace fleetbench::fleet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

TEST_F(TeamCourseTest, TheFirstOnesInvitationReachesAllOfItsTeam) {
  TeamCourse& course = begin(Participants::pair, Across::rails, {{0, 1}});
  Json first = answer({ok(), ok()});
  first["devices"][1]["invitation"] = "of gpu1";
  course.add(0, first);
  course.add(1, answer({{{"status", "ok"}}, {{"status", "ok"}}}));
  EXPECT_THAT(course.end_preparation(), IsEmpty());
  EXPECT_THAT(course.invitations_for(state_.owners.at(1)),
              ElementsAre(testing::Pair("gpu0", "abc"), testing::Pair("gpu1", "of gpu1")));
}

TEST_F(TeamCourseTest, ATeamIsRecordedOnceItIsComplete) {
  TeamCourse& course = begin(Participants::group, Across::nodes, {{0, 1}, {2, 3}});
  all_are_prepared();
  course.add(0, answer({ok(), ok()}));
  EXPECT_THAT(samples(), IsEmpty());
  course.add(1, answer({ok(), ok()}));
  EXPECT_THAT(samples(), SizeIs(4));
  const SampleRecord first = recorded().front();
  EXPECT_THAT(first.group, ElementsAre(0, 1));
  EXPECT_THAT(first.ends, IsEmpty());
}

TEST_F(TeamCourseTest, SamplesOfRailsSayWhichGpusTookPart) {
  TeamCourse& course = begin(Participants::pair, Across::rails, {{2, 1}});
  all_are_prepared();
  course.add(1, answer({ok(), ok()}));
  course.add(2, answer({ok(), ok()}));
  const auto all = recorded();
  ASSERT_THAT(all, SizeIs(4));
  for (const SampleRecord& sample : all) {
    EXPECT_THAT(sample.ends,
                ElementsAre(End{sample.node, sample.device}, End{*sample.peer, sample.device}));
  }
}

TEST_F(TeamCourseTest, APairWithoutOneThatIsPreparedIsNotMeasuredAndOthersAre) {
  TeamCourse& course = begin(Participants::pair, Across::rails, {{0, 1}, {2, 3}});
  course.add(0, answer({died(), ok()}));
  for (const int rank : {1, 2, 3}) {
    course.add(rank, answer({ok(), ok()}));
  }
  EXPECT_THAT(course.end_preparation(), IsEmpty());
  EXPECT_THAT(samples(), ElementsAre("n0 gpu0 failed"));
  EXPECT_THAT(state_.owners.at(1).gpus, SizeIs(1));
  EXPECT_THAT(state_.again, IsEmpty());
}

TEST_F(TeamCourseTest, AGroupWithoutOneThatIsPreparedIsMeasuredAgainWithoutIt) {
  TeamCourse& course = begin(Participants::group, Across::nodes, {{0, 1, 2, 3}});
  course.add(0, answer({died(), ok()}));
  for (const int rank : {1, 2, 3}) {
    course.add(rank, answer({ok(), ok()}));
  }
  EXPECT_THAT(course.end_preparation(), ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(state_.owners.empty());
  ASSERT_THAT(state_.again, SizeIs(1));
  EXPECT_THAT(state_.again[0].members, SizeIs(7));
  EXPECT_FALSE(state_.again[0].is_whole);
}

TEST_F(TeamCourseTest, OnlyThoseToBlameAreRecordedAndTheOthersMeasuredAgain) {
  TeamCourse& course = begin(Participants::group, Across::rails, {{0, 1, 2, 3}});
  all_are_prepared();
  for (const int rank : {0, 1, 2}) {
    course.add(rank, answer({waited(), ok()}));
  }
  course.add(3, answer({died(), ok()}));
  EXPECT_THAT(samples(), UnorderedElementsAre("n3 gpu0 failed", "n0 gpu1 ok", "n1 gpu1 ok",
                                              "n2 gpu1 ok", "n3 gpu1 ok"));
  EXPECT_THAT(recorded().front().reason, HasSubstr("signal 9; meanwhile rank 1 waited"));
  ASSERT_THAT(state_.again, SizeIs(1));
  EXPECT_THAT(state_.again[0].members, SizeIs(3));
}

TEST_F(TeamCourseTest, OfTooFewThatAreAlikeAllAreRecorded) {
  TeamCourse& course = begin(Participants::group, Across::rails, {{0, 1, 2}});
  all_are_prepared();
  for (const int rank : {0, 1, 2}) {
    course.add(rank, answer({waited(), ok()}));
  }
  EXPECT_THAT(samples(), SizeIs(6));
  EXPECT_THAT(state_.again, IsEmpty());
  EXPECT_FALSE(samples_.left_out(0, {0, 1, 2}, "gpu0"));
}

TEST_F(TeamCourseTest, OfAFailedPairWhoIsToBlameIsRecorded) {
  TeamCourse& course = begin(Participants::pair, Across::rails, {{0, 1}});
  all_are_prepared();
  course.add(0, answer({waited(), ok()}));
  course.add(1, answer({died(), ok()}));
  EXPECT_THAT(samples(), UnorderedElementsAre("n1 gpu0 failed", "n0 gpu1 ok", "n1 gpu1 ok"));
}

TEST_F(TeamCourseTest, AFalseResultIsOneOfAll) {
  TeamCourse& course = begin(Participants::group, Across::nodes, {{0, 1}});
  all_are_prepared();
  const Json wrong{{"status", "wrong"}, {"reason", "element 5"}};
  course.add(0, answer({wrong, wrong}));
  course.add(1, answer({wrong, wrong}));
  EXPECT_THAT(samples(),
              ElementsAre("n0 gpu0 wrong", "n0 gpu1 wrong", "n1 gpu0 wrong", "n1 gpu1 wrong"));
  EXPECT_THAT(state_.again, IsEmpty());
}

TEST_F(TeamCourseTest, WhoIsSilentAfterOthersGaveUpIsOverdueAndToBlame) {
  TeamCourse& course = begin(Participants::group, Across::rails, {{0, 1, 2, 3}});
  all_are_prepared();
  for (const int rank : {0, 1, 2}) {
    course.add(rank, answer({waited(), ok()}));
  }
  const auto now = TeamCourse::Clock::now();
  const auto rest = std::chrono::duration_cast<TeamCourse::Clock::duration>(
      std::chrono::duration<double>(kTeamRest_s));
  EXPECT_THAT(course.overdue(now), IsEmpty());
  EXPECT_THAT(course.overdue(now + rest), ElementsAre(Overdue{3, {"gpu0"}}));
  course.add_late(3, {"no answer", "", {"gpu0"}});
  EXPECT_THAT(samples(), ElementsAre("n3 gpu0 timeout"));
  EXPECT_THAT(course.overdue(now + rest), ElementsAre());
}

TEST_F(TeamCourseTest, ARankIsOverdueForTheGpusOfTheTeamsThatFailedAlone) {
  gpus_[0].resize(1);
  gpus_[1].resize(1);
  TeamCourse& course = begin(Participants::group, Across::rails, {{0, 1, 2, 3}});
  all_are_prepared();
  course.add(0, answer({died()}));
  const auto rest = std::chrono::duration_cast<TeamCourse::Clock::duration>(
      std::chrono::duration<double>(kTeamRest_s));
  EXPECT_THAT(course.overdue(TeamCourse::Clock::now() + rest),
              ElementsAre(Overdue{1, {}}, Overdue{2, {"gpu0"}}, Overdue{3, {"gpu0"}}));
  course.add(2, answer({waited(), died()}));
  EXPECT_THAT(course.overdue(TeamCourse::Clock::now() + rest),
              ElementsAre(Overdue{1, {}}, Overdue{3, {}}));
}

TEST_F(TeamCourseTest, OfALostRankNothingIsRecordedAndTheOthersAreMeasuredAgain) {
  TeamCourse& course = begin(Participants::group, Across::nodes, {{0, 1, 2, 3}});
  all_are_prepared();
  EXPECT_THAT(course.partners_of(3), ElementsAre(0, 1, 2));
  for (const int rank : {0, 1, 2}) {
    course.forsake(rank);
    course.add_late(rank, {"given up", "", {}});
  }
  attendance_.lose(3, {std::nullopt, "nccl", "measure"}, "silent");
  course.end_measurement();
  EXPECT_THAT(samples(), IsEmpty());
  ASSERT_THAT(state_.again, SizeIs(1));
  EXPECT_THAT(state_.again[0].members, SizeIs(6));
}

TEST_F(TeamCourseTest, WhatTheRunsEndCutsShortIsNobodysFault) {
  TeamCourse& course = begin(Participants::group, Across::nodes, {{0, 1}});
  all_are_prepared();
  course.add(0, answer({ok(), ok()}));
  state_.is_cut = true;
  course.end_measurement();
  EXPECT_THAT(samples(), ElementsAre("n0 gpu0 ok", "n0 gpu1 ok"));
  EXPECT_THAT(state_.again, IsEmpty());
}

TEST_F(TeamCourseTest, AGroupIsNotMeasuredAgainForEver) {
  TeamCourse& course = begin(Participants::group, Across::nodes, {{0, 1, 2, 3}});
  state_.attempt = kMostAttempts - 1;
  all_are_prepared();
  for (const int rank : {0, 1, 2}) {
    course.add(rank, answer({waited(), waited()}));
  }
  course.add(3, answer({died(), waited()}));
  EXPECT_THAT(samples(), ElementsAre("n3 gpu0 failed"));
  EXPECT_THAT(state_.again, IsEmpty());
}

TEST_F(TeamCourseTest, WhoIsToBlameTwiceIsLeftOutByItself) {
  for (int slot = 0; slot < 2; ++slot) {
    TeamCourse& course = begin(Participants::pair, Across::rails, {{0, 1 + slot}});
    state_.slot.index = slot;
    all_are_prepared();
    course.add(1 + slot, answer({waited(), ok()}));
    course.add_late(0, {"no answer", "", {"gpu0"}});
  }
  EXPECT_TRUE(samples_.left_out(0, {0}, "gpu0"));
  EXPECT_FALSE(samples_.left_out(0, {0}, "gpu1"));
}

}  // namespace
}  // namespace fleetbench::fleet
