#include "harness/plan/pair_rounds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace fleetbench::plan {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t kSeed = 11;
constexpr int kPasses = 5;

PlannedStep step_of(const std::string& id, Participants participants) {
  PlannedStep step;
  step.id = step.scenario.id = id;
  step.probe.participants = participants;
  step.passes = kPasses;
  return step;
}

// One slot of a pass on nodes, and pairs.
std::vector<PlannedStep> gemm_and_pairs() {
  return {step_of("cpu_gemm", Participants::node), step_of("mpi_pairs", Participants::pair)};
}

std::vector<PlannedStep> with_matchings(int rounds) {
  auto steps = gemm_and_pairs();
  steps[1].scenario.pairs = Pairs::matchings;
  steps[1].scenario.matchings = rounds;
  return steps;
}

using Round = std::set<std::pair<int, int>>;

Round round_of(const Slot& slot) {
  Round round;
  for (const Party& party : slot.parties) {
    round.insert(std::minmax(party[0], party[1]));
  }
  return round;
}

// What a run with so much time for the rest measures: by pass the rounds of step 1.
struct Outcome {
  std::map<int, std::set<Round>> rounds;
  int others = 0;  // slots of step 0
  std::vector<OmissionRecord> omitted;
};

Outcome outcome_of(const std::vector<PlannedStep>& steps, int nodes,
                   const std::map<int, double>& seconds, double left_s) {
  Trial trial = try_rounds(steps, make_slots(steps, nodes, kSeed));
  std::vector<Slot> slots = trial.first;
  const FewerRounds fewer = fit_rounds(steps, std::move(trial), seconds, left_s, nodes, kSeed);
  slots.insert(slots.end(), fewer.slots.begin(), fewer.slots.end());
  Outcome outcome{.rounds = {}, .others = 0, .omitted = fewer.omitted};
  for (const Slot& slot : slots) {
    if (slot.step == 0) {
      ++outcome.others;
    } else {
      EXPECT_TRUE(outcome.rounds[slot.pass].insert(round_of(slot)).second) << "a round twice";
    }
  }
  return outcome;
}

TEST(TryRounds, TakesTheFirstPassWithOneRound) {
  const auto steps = gemm_and_pairs();
  const Trial trial = try_rounds(steps, make_slots(steps, 16, kSeed));
  ASSERT_THAT(trial.first, SizeIs(2));
  EXPECT_EQ(trial.first[0].step, 0);
  EXPECT_EQ(trial.first[1].step, 1);
  EXPECT_THAT(trial.rest, SizeIs((kPasses - 1) + kPasses * 15 - 1));
}

TEST(TryRounds, LeavesAloneWhatHasNoRoundsToGiveUp) {
  const auto steps = gemm_and_pairs();
  const auto slots = make_slots(steps, 4, kSeed);
  const Trial trial = try_rounds(steps, slots);
  EXPECT_THAT(trial.first, SizeIs(slots.size()));
  EXPECT_THAT(trial.rest, IsEmpty());
}

TEST(FitRounds, KeepsAllWhereThereIsTime) {
  const auto outcome = outcome_of(gemm_and_pairs(), 16, {{0, 1}, {1, 1}}, 78);  // 4 + 5 * 15 - 1
  EXPECT_THAT(outcome.omitted, IsEmpty());
  EXPECT_EQ(outcome.others, kPasses);
  for (int pass = 0; pass < kPasses; ++pass) {
    EXPECT_THAT(outcome.rounds.at(pass), SizeIs(15));
  }
}

TEST(FitRounds, TakesTheSameRoundsInEveryPass) {
  // Four slots of nodes, and 5 * 10 - 1 of pairs.
  const auto outcome = outcome_of(gemm_and_pairs(), 16, {{0, 1}, {1, 1}}, 53);
  for (int pass = 0; pass < kPasses; ++pass) {
    EXPECT_THAT(outcome.rounds.at(pass), SizeIs(10));
    EXPECT_EQ(outcome.rounds.at(pass), outcome.rounds.at(0));
  }
  ASSERT_THAT(outcome.omitted, SizeIs(1));
  EXPECT_EQ(outcome.omitted[0].step, "mpi_pairs");
  EXPECT_EQ(outcome.omitted[0].reason,
            "10 of 15 rounds of pairs fit the time of the run (--budget): 67 % of all links are "
            "measured");
}

TEST(FitRounds, GivesUpPassesBeforePartnersBecomeTooFew) {
  // One pass of 8 rounds fits, five do not.
  const auto outcome = outcome_of(gemm_and_pairs(), 16, {{0, 1}, {1, 1}}, 20);
  for (int pass = 0; pass < kPasses; ++pass) {
    EXPECT_THAT(outcome.rounds.at(pass), SizeIs(kEnoughRounds));
  }
  EXPECT_EQ(outcome.others, kPasses);
}

TEST(FitRounds, TakesWhatFitsOnePassWhereThatIsAll) {
  const auto five = outcome_of(gemm_and_pairs(), 16, {{0, 0.1}, {1, 10}}, 42);  // 4 more of 10 s
  EXPECT_THAT(five.rounds.at(0), SizeIs(5));
  const auto none = outcome_of(gemm_and_pairs(), 16, {{0, 0.1}, {1, 10}}, 0);
  EXPECT_THAT(none.rounds.at(0), SizeIs(kFewestRounds));
}

TEST(FitRounds, WorksOnMatchings) {
  const auto outcome = outcome_of(with_matchings(32), 1024, {{0, 0.2}, {1, 0.5}}, 41);
  EXPECT_THAT(outcome.rounds.at(0), SizeIs(16));
  EXPECT_EQ(outcome.rounds.at(4), outcome.rounds.at(0));
  ASSERT_THAT(outcome.omitted, SizeIs(1));
  EXPECT_THAT(outcome.omitted[0].reason, HasSubstr("16 of 32 rounds"));
  EXPECT_THAT(outcome.omitted[0].reason, HasSubstr("2 % of all links"));
}

TEST(FitRounds, CountsRoundsOfPairsThatMeasureAlone) {
  auto steps = gemm_and_pairs();
  steps[1].concurrent = false;
  Trial trial = try_rounds(steps, make_slots(steps, 10, kSeed));  // 9 rounds of 5 pairs
  EXPECT_THAT(trial.first, SizeIs(2));                            // the nodes, and one pair
  const auto fewer = fit_rounds(steps, std::move(trial), {{0, 0}, {1, 1}}, 5 * 45 - 2, 10, kSeed);
  ASSERT_THAT(fewer.omitted, SizeIs(1));
  EXPECT_THAT(fewer.omitted[0].reason, HasSubstr("8 of 9 rounds"));
}

TEST(FitRounds, KeepsWhatCrossesRails) {
  const auto steps = gemm_and_pairs();
  Trial trial = try_rounds(steps, make_slots(steps, 16, kSeed));
  Slot across = trial.rest.back();
  across.device = "gpu0";
  across.peer_device = "gpu1";
  for (Slot& slot : trial.rest) {
    if (slot.step == 1) {
      across.parties = slot.parties;
      across.index = -1;
    }
  }
  const auto count = trial.rest.size();
  trial.rest.insert(trial.rest.end(), 15, across);
  const auto fewer = fit_rounds(steps, std::move(trial), {{0, 1}, {1, 1}}, 20, 16, kSeed);
  EXPECT_LT(fewer.slots.size(), count);
  EXPECT_EQ(std::ranges::count(fewer.slots, -1, &Slot::index), 15);
}

TEST(SecondsOfSlots, AreThoseOfTheSlowestOwner) {
  RunData run;
  for (const auto& [slot, node, seconds] :
       {std::tuple(0, 0, 1.0), std::tuple(0, 1, 3.0), std::tuple(1, 0, 2.0), std::tuple(1, 1, 0.5),
        std::tuple(2, 0, 9.0)}) {
    SampleRecord sample;
    sample.step = 4;
    sample.slot = slot;
    sample.node = node;
    sample.prepare_s = seconds / 2;
    sample.measure_s = seconds / 2;
    run.samples.push_back(sample);
  }
  EXPECT_EQ(seconds_of_slots(run), (std::map<int, double>{{4, 3.0}}));
}

}  // namespace
}  // namespace fleetbench::plan
