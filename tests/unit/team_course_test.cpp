#include "harness/fleet/team_course.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>

#include "harness/fleet/culprits.hpp"
#include "harness/fleet/gpu_runner.hpp"
#include "tests/unit/heard.hpp"

namespace fleetbench::fleet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

// Nodes of two GPUs each, owned by the rank of the node's number.
class TeamCourseTest : public testing::Test {
 protected:
  TeamCourseTest() {
    for (int node = 0; node < kNodes; ++node) {
      gpus_.push_back({{.label = "gpu0", .rank = node}, {.label = "gpu1", .rank = node}});
    }
    step_.resize(1);
    step_[0].id = "nccl";
    step_[0].runner = plan::Runner::gpu_workers;
    step_[0].probe.joins_workers = true;
    step_[0].metrics.resize(1);
  }

  static std::vector<NodeInfo> four_nodes() {
    std::vector<NodeInfo> nodes;
    for (int node = 0; node < kNodes; ++node) {
      nodes.push_back({.index = node,
                       .name = "n" + std::to_string(node),
                       .boot_id = "",
                       .ranks = {node},
                       .inventory = nullptr,
                       .cohort = ""});
    }
    return nodes;
  }

  // The teams of these parties begin.
  TeamCourse& begin(Participants participants, Across across, std::vector<plan::Party> parties) {
    step_[0].probe.participants = participants;
    step_[0].across = across;
    const plan::Slot slot{.parties = std::move(parties)};
    state_ = open_teams(slot, step_[0], plan::teams_of(slot, step_[0], gpus_));
    return course_.emplace(state_, step_[0], samples_, attendance_);
  }

  static Json answer(const std::vector<Json>& devices) {
    Json answer{{"status", "ok"}, {"s", 1.0}, {"devices", Json::array()}};
    for (std::size_t i = 0; i < devices.size(); ++i) {
      answer["devices"].push_back(devices[i]);
      answer["devices"].back()["device"] = "gpu" + std::to_string(i);
    }
    return answer;
  }

  static Json ok() { return {{"status", "ok"}, {"values", {1.0}}, {"invitation", "abc"}}; }
  static Json waited() {
    return {{"status", "timeout"},
            {"reason", "rank 1 waited"},
            {"detail", {{"phase", "init"}, {"calls_done", 0}}}};
  }
  static Json died() { return {{"status", "failed"}, {"reason", "signal 9"}}; }

  void all_are_prepared() {
    for (const auto& [rank, owner] : state_.owners) {
      course_->add(rank, answer({ok(), ok()}));
    }
    EXPECT_THAT(course_->end_preparation(), IsEmpty());
  }

  std::vector<SampleRecord> recorded() const {
    std::vector<SampleRecord> samples;
    for (const Record& record : heard_.records) {
      if (const auto* sample = std::get_if<SampleRecord>(&record)) {
        samples.push_back(*sample);
      }
    }
    return samples;
  }

  std::vector<std::string> samples() const {
    std::vector<std::string> texts;
    for (const SampleRecord& sample : recorded()) {
      texts.push_back(nodes_[static_cast<std::size_t>(sample.node)].name + " " + sample.device +
                      " " + std::string(to_string(sample.status)));
    }
    return texts;
  }

  static constexpr int kNodes = 4;
  std::vector<NodeInfo> nodes_ = four_nodes();
  FleetGpus gpus_;
  std::vector<plan::PlannedStep> step_;
  Heard heard_;
  Attendance attendance_{nodes_, heard_, heard_};
  SlotSamples samples_{kNodes, step_, attendance_, heard_};
  SlotState state_;
  std::optional<TeamCourse> course_;
};

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

// Rail gpu0 of four nodes, all of whose members wait alike.
class HuntTest : public TeamCourseTest {
 protected:
  // The next attempt: gpu0 of these nodes waits, of all others it succeeds.
  void next(const std::vector<int>& waiting) {
    if (course_) {
      SlotState again = open_teams(state_.slot, step_[0], state_.again);
      again.hunts = state_.hunts_again;
      again.attempt = state_.attempt + 1;
      state_ = std::move(again);
      course_.emplace(state_, step_[0], samples_, attendance_);
    } else {
      for (auto& of_node : gpus_) {
        of_node.resize(1);
      }
      begin(Participants::group, Across::rails, {{0, 1, 2, 3}});
    }
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

  std::vector<std::vector<int>> nodes_again() const {
    std::vector<std::vector<int>> nodes;
    for (const plan::Team& team : state_.again) {
      nodes.push_back(plan::nodes_of(team));
    }
    return nodes;
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
    EXPECT_THAT(samples(), ElementsAre("n0 gpu0 timeout", "n1 gpu0 timeout", "n2 gpu0 timeout",
                                       "n3 gpu0 timeout"));
    EXPECT_THAT(nodes_again(), IsEmpty());
  }
}

TEST_F(HuntTest, SeveralMayBeToBlame) {
  next({0, 1, 2, 3});
  next({0, 1});
  next({0, 1, 2, 3});
  EXPECT_THAT(samples(), ElementsAre("n0 gpu0 timeout", "n1 gpu0 timeout"));
  EXPECT_THAT(nodes_again(), ElementsAre(ElementsAre(2, 3)));
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
  EXPECT_THAT(course.overdue(now + rest), ElementsAre(3));
  course.add_late(3, {"no answer", "", {"gpu0"}});
  EXPECT_THAT(samples(), ElementsAre("n3 gpu0 timeout"));
  EXPECT_THAT(course.overdue(now + rest), ElementsAre());
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
