#include "harness/fleet/controller.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "harness/fleet/agent.hpp"
#include "harness/plan/deadline.hpp"
#include "harness/plan/upper_median.hpp"

namespace fleetbench::fleet {
namespace {

constexpr double kBye_s = 10;

bool is_over_mpi(const plan::PlannedStep& step) { return step.runner == plan::Runner::rank; }

}  // namespace

Controller::Controller(Conversation& conversation, const std::vector<NodeInfo>& nodes,
                       const FleetGpus& gpus, const std::vector<plan::PlannedStep>& steps,
                       RecordSink& sink, Progress& progress,
                       std::function<double()> seconds_since_start)
    : conversation_(conversation),
      steps_(steps),
      progress_(progress),
      now_s_(std::move(seconds_since_start)),
      attendance_(nodes, sink, progress),
      samples_(nodes.size(), steps, attendance_, sink),
      course_(conversation, nodes, gpus, steps, progress, now_s_, attendance_, samples_),
      ramps_(attendance_) {}

void Controller::run(const std::vector<plan::Slot>& slots, const TimeLimits& limits) {
  std::vector<plan::Slot> skipped;
  const auto count = slots.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto slot = remaining(slots[i]);
    if (slot.parties.empty() || ramps_.is_over(step_of(slot), slot.step)) {
      continue;
    }
    if (!fits(slot, limits)) {
      skipped.push_back(slots[i]);
      continue;
    }
    const auto next = owners_of(i + 1 < count ? remaining(slots[i + 1]) : plan::Slot());
    progress_.slot(static_cast<int>(i) + 1, static_cast<int>(count),
                   plan::describe(slot, step_of(slot)));
    if (!measure(slot, next, limits.end_s)) {
      skipped.push_back(slots[i]);
    }
  }
  note_skipped(skipped);
  if (!skipped.empty() || now_s_() > limits.end_s) {
    lose_the_root_that_stood_still(conversation_.longest_pause_s());
  }
}

bool Controller::measure(const plan::Slot& slot, const std::vector<int>& next, double end_s) {
  for (SlotState state = course_.laid_out(slot); !state.is_nothing_left();) {
    course_.run(state, next, end_s);
    ramps_.add(step_of(slot), samples_.values_of_slot());
    samples_.sync();
    if (state.is_cut) {
      return false;
    }
    state = without_the_lost(state);
  }
  return true;
}

plan::Slot Controller::remaining(const plan::Slot& slot) {
  const auto& step = step_of(slot);
  auto alive =
      plan::without(slot, is_over_mpi(step) ? attendance_.unfit_for(step.id) : attendance_.gone(),
                    step.probe.participants);
  std::erase_if(alive.parties,
                [&](const plan::Party& party) { return samples_.left_out(slot.step, party); });
  return alive;
}

bool Controller::fits(const plan::Slot& slot, const TimeLimits& limits) const {
  return now_s_() <= limits.no_slot_after_s &&
         now_s_() + course_.expected_s(slot.step) <= limits.end_s;
}

// By step, in which of its passes. What was to be measured again is known from its samples.
void Controller::note_skipped(const std::vector<plan::Slot>& skipped) {
  std::map<int, std::set<int>> passes;
  for (const auto& slot : skipped) {
    if (!slot.confirms) {
      passes[slot.step].insert(slot.pass);
    }
  }
  for (const auto& [index, of_step] : passes) {
    const auto& step = steps_[static_cast<std::size_t>(index)];
    attendance_.omit(step.id, std::nullopt,
                     fmt::format("not measured, or in part, in {} of {} passes: the time of the "
                                 "run (--budget) was used up",
                                 of_step.size(), step.passes));
  }
}

std::vector<int> Controller::owners_of(const plan::Slot& slot) const {
  std::vector<int> ranks;
  if (!slot.parties.empty()) {
    for (const auto& [rank, owner] : course_.laid_out(slot).owners) {
      ranks.push_back(rank);
    }
  }
  return ranks;
}

SlotState Controller::without_the_lost(const SlotState& state) {
  const std::string& id = step_of(state.slot).id;
  plan::Slot slot = state.slot;
  if (!state.again.empty()) {
    slot.index = again_++;
    SlotState again = course_.laid_out(slot, state.again);
    again.hunts = state.hunts_again;
    again.attempt = state.attempt + 1;
    if (!again.owners.empty()) {
      progress_.note(fmt::format(
          "{}: measured again{}", id,
          again.hunts.empty() ? " without who failed" : ", in parts, to find who keeps it up"));
    }
    return again;
  }
  slot.parties.clear();
  for (const std::size_t party : state.broken) {
    slot.parties.push_back(state.slot.parties[party]);
  }
  slot = remaining(slot);
  if (slot.parties.empty()) {
    return {};
  }
  slot.index = again_++;
  progress_.note(fmt::format("{}: measured again without who is lost", id));
  return course_.laid_out(slot);
}

// Of a run that is over before all is measured: a root that stood still for longer than any other
// rank may be silent is why.
void Controller::lose_the_root_that_stood_still(double pause_s) {
  if (pause_s > plan::kSilence_s && !attendance_.is_lost(kRoot)) {
    course_.lose(kRoot, course_.phase(),
                 fmt::format("it leads the run and stood still for {:.0f} s", pause_s));
  }
}

void Controller::call_roll(double within_s) {
  lose_the_root_that_stood_still(conversation_.pause_just_over_s());
  const auto asked = attendance_.ranks();
  const auto silent = conversation_.silent(asked, within_s);
  if (2 * silent.size() > asked.size()) {
    return;
  }
  for (const int rank : silent) {
    lose(rank, course_.phase(), "it did not answer when the run was broken off");
  }
}

WaitingCost Controller::finish(double end_s) {
  Question question{.slot = -1,
                    .re = "bye",
                    .messages = {},
                    .limit_s = kBye_s,
                    .cut_s = std::max(1.0, end_s - now_s_())};
  for (const int rank : attendance_.ranks()) {
    question.messages[rank] = []() -> Json { return {{"do", "end"}}; };
  }
  course_.enter("end");
  std::vector<double> history_s;
  const Answers answers = conversation_.ask(question, history_s, Listener());
  WaitingCost cost;
  for (const auto& [rank, answer] : answers.given) {
    may_finalize_ = may_finalize_ && answer.value("abandoned", 0) == 0;
    const Json waiting = answer.value("waiting", Json::object());
    const double wait_s = waiting.value("wait_s", 0.0);
    if (rank == 0 || wait_s <= 0) {
      continue;  // the root does not wait, it works
    }
    ++cost.ranks;
    cost.max_core_share = std::max(cost.max_core_share, waiting.value("cpu_s", 0.0) / wait_s);
    cost.max_resident_bytes =
        std::max(cost.max_resident_bytes, waiting.value("resident_bytes", 0.0));
  }
  for (const auto& [rank, reason] : answers.lost) {
    lose(rank, "bye", reason);
  }
  for (const auto& [rank, late] : answers.late) {
    may_finalize_ = false;
    if (!answers.cut) {
      lose(rank, "bye", late.reason);
    }
  }
  return cost;
}

}  // namespace fleetbench::fleet
