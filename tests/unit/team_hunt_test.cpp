// How a group is searched all of whose members wait alike.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/unit/team_course_fixture.hpp"

namespace fleetbench::fleet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

// Rail gpu0 of four nodes, all of whose members wait alike.
class HuntTest : public TeamCourseTest {
 protected:
  // The next attempt begins.
  void open_next() {
    if (!course_) {
      for (auto& of_node : gpus_) {
        of_node.resize(1);
      }
      begin(Participants::group, Across::rails, {{0, 1, 2, 3}});
      return;
    }
    SlotState again = open_teams(state_.slot, step_[0], state_.again);
    again.hunts = state_.hunts_again;
    again.attempt = state_.attempt + 1;
    state_ = std::move(again);
    course_.emplace(state_, step_[0], samples_, attendance_);
  }

  // It is prepared; gpu0 of these nodes waits, of all others it succeeds.
  void measure(const std::vector<int>& waiting) {
    const auto owners = state_.owners;
    for (const auto& [rank, owner] : owners) {
      course_->add(rank, answer({ok()}));
    }
    EXPECT_THAT(course_->end_preparation(), IsEmpty());
    for (const auto& [rank, owner] : owners) {
      course_->add(rank, answer({std::ranges::count(waiting, rank) > 0 ? waited() : ok()}));
    }
    course_->end_measurement();
  }

  void next(const std::vector<int>& waiting) {
    open_next();
    measure(waiting);
  }

  std::vector<std::vector<int>> nodes_again() const {
    std::vector<std::vector<int>> nodes;
    for (const plan::Team& team : state_.again) {
      nodes.push_back(plan::nodes_of(team));
    }
    return nodes;
  }

  void expect_all_as_they_were() const {
    EXPECT_THAT(samples(), ElementsAre("n0 gpu0 timeout", "n1 gpu0 timeout", "n2 gpu0 timeout",
                                       "n3 gpu0 timeout"));
    for (const SampleRecord& sample : recorded()) {
      EXPECT_EQ(sample.reason, "rank 1 waited");
    }
    EXPECT_THAT(nodes_again(), IsEmpty());
  }
};

TEST_F(HuntTest, FindsWhoKeepsTheOthersUp) {
  next({0, 1, 2, 3});
  EXPECT_THAT(nodes_again(), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  next({2, 3});
  EXPECT_THAT(nodes_again(), ElementsAre(ElementsAre(2, 0), ElementsAre(3, 1)));
  EXPECT_THAT(samples(), IsEmpty());
  next({1, 3});
  EXPECT_THAT(samples(), ElementsAre("n3 gpu0 timeout"));
  EXPECT_THAT(nodes_again(), ElementsAre(ElementsAre(0, 1, 2)));
  next({});
  EXPECT_THAT(samples(), SizeIs(4));
  EXPECT_THAT(nodes_again(), IsEmpty());
}

TEST_F(HuntTest, WhereItDoesNotTellAllAreRecordedAsTheyWere) {
  for (const std::vector<int>& halves : {std::vector<int>{}, std::vector<int>{0, 1, 2, 3}}) {
    course_.reset();
    heard_.records.clear();
    next({0, 1, 2, 3});
    next(halves);
    expect_all_as_they_were();
  }
}

TEST_F(HuntTest, SeveralMayBeToBlame) {
  next({0, 1, 2, 3});
  next({0, 1});
  next({0, 1, 2, 3});
  EXPECT_THAT(samples(), ElementsAre("n0 gpu0 timeout", "n1 gpu0 timeout"));
  EXPECT_THAT(nodes_again(), ElementsAre(ElementsAre(2, 3)));
}

TEST_F(HuntTest, WhereNoPartCanBePreparedAllAreRecordedAsTheyWere) {
  next({0, 1, 2, 3});
  open_next();
  for (const int rank : {0, 1, 2, 3}) {
    course_->add(rank, answer({died()}));
  }
  EXPECT_THAT(course_->end_preparation(), SizeIs(4));
  expect_all_as_they_were();
}

TEST_F(HuntTest, WhereNoPartIsLeftToMeasureAllAreRecordedAsTheyWere) {
  next({0, 1, 2, 3});
  state_.again.clear();
  open_next();
  EXPECT_THAT(course_->end_preparation(), IsEmpty());
  expect_all_as_they_were();
}

TEST_F(HuntTest, CutShortAsPartsAreMeasuredItRecordsAllAsTheyWere) {
  next({0, 1, 2, 3});
  open_next();
  for (const int rank : {0, 1, 2, 3}) {
    course_->add(rank, answer({ok()}));
  }
  course_->end_preparation();
  course_->add(0, answer({waited()}));
  state_.is_cut = true;
  course_->end_measurement();
  expect_all_as_they_were();
}

TEST_F(HuntTest, CutShortAsPartsArePreparedItRecordsAllAsTheyWere) {
  next({0, 1, 2, 3});
  open_next();
  course_->add(0, answer({ok()}));
  state_.is_cut = true;
  course_->end_preparation();
  expect_all_as_they_were();
}

TEST_F(HuntTest, CutShortInTheAttemptInWhichItBeganItRecordsAllAsTheyWere) {
  TeamCourse& course = begin(Participants::group, Across::rails, {{0, 1, 2, 3}});
  all_are_prepared();
  for (const int rank : {0, 1, 2, 3}) {
    course.add(rank, answer({waited()}));
  }
  EXPECT_THAT(nodes_again(), SizeIs(2));
  state_.is_cut = true;
  course.end_measurement();
  expect_all_as_they_were();
}

TEST_F(HuntTest, WhoIsLostAsItPreparesIsToBlameAndNotItsPartner) {
  next({0, 1, 2, 3});
  next({2, 3});
  EXPECT_THAT(nodes_again(), ElementsAre(ElementsAre(2, 0), ElementsAre(3, 1)));
  open_next();
  for (const int rank : {0, 2, 3}) {
    course_->add(rank, answer({ok()}));
  }
  attendance_.lose(1, {std::nullopt, "nccl", "prepare"}, "silent");
  EXPECT_THAT(course_->end_preparation(), UnorderedElementsAre(1, 3));
  course_->add(0, answer({ok()}));
  course_->add(2, answer({ok()}));
  course_->end_measurement();
  EXPECT_THAT(samples(), ElementsAre("n1 gpu0 timeout"));
  EXPECT_THAT(nodes_again(), ElementsAre(ElementsAre(0, 2, 3)));
}

TEST_F(HuntTest, WhatIsRecordedIsOfTheSlotThatFailed) {
  open_next();
  state_.slot.index = 5;
  state_.start_s = 10;
  measure({0, 1, 2, 3});
  for (const auto& waiting : {std::vector<int>{2, 3}, std::vector<int>{2}}) {
    open_next();
    ++state_.slot.index;
    state_.start_s += 10;
    measure(waiting);
  }
  ASSERT_THAT(samples(), ElementsAre("n2 gpu0 timeout"));
  EXPECT_EQ(recorded().front().slot, 5);
  EXPECT_EQ(recorded().front().start_s, 10);
}

}  // namespace
}  // namespace fleetbench::fleet
