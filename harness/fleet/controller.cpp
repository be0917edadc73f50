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
// Long enough for an answer to a ping on a busy node.
constexpr double kListen_s = 3;

bool is_over_mpi(const plan::PlannedStep& step) { return step.runner == plan::Runner::rank; }

}  // namespace

Controller::Controller(Conversation& conversation, const std::vector<NodeInfo>& nodes,
                       const FleetGpus& gpus, const std::vector<plan::PlannedStep>& steps,
                       RecordSink& sink, Progress& progress,
                       std::function<double()> seconds_since_start)
    : conversation_(conversation),
      nodes_(nodes),
      gpus_(gpus),
      steps_(steps),
      progress_(progress),
      now_s_(std::move(seconds_since_start)),
      attendance_(nodes, sink, progress),
      samples_(nodes.size(), steps, attendance_, sink),
      ramps_(attendance_) {}

void Controller::run(const std::vector<plan::Slot>& slots, const TimeLimits& limits) {
  limits_ = limits;
  std::vector<plan::Slot> skipped;
  const auto count = slots.size();
  for (std::size_t i = 0; i < count; ++i) {
    auto slot = remaining(slots[i]);
    if (slot.parties.empty() || ramps_.is_over(step_of(slot), slot.step)) {
      continue;
    }
    if (!fits(slot, limits)) {
      skipped.push_back(slots[i]);
      continue;
    }
    announce(i + 1 < count ? remaining(slots[i + 1]) : plan::Slot());
    progress_.slot(static_cast<int>(i) + 1, static_cast<int>(count),
                   plan::describe(slot, step_of(slot)));
    bool is_cut = false;
    while (!slot.parties.empty() && !is_cut) {
      const SlotState state = run_slot(slot);
      samples_.sync();
      is_cut = state.is_cut;
      slot = without_the_lost(state);
    }
    if (is_cut) {
      skipped.push_back(slots[i]);
    }
  }
  note_skipped(skipped);
  if (!skipped.empty() || now_s_() > limits.end_s) {
    lose_the_root_that_stood_still(conversation_.longest_pause_s());
  }
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
  double expected_s = 0;
  for (const char* phase : {"prepare", "measure"}) {
    const auto history = history_s_.find({slot.step, phase});
    if (history != history_s_.end() && !history->second.empty()) {
      expected_s += plan::upper_median(history->second);
    }
  }
  return now_s_() <= limits.no_slot_after_s && now_s_() + expected_s <= limits.end_s;
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

// Who owns the slot after the one that begins now.
void Controller::announce(const plan::Slot& next) {
  next_.clear();
  if (!next.parties.empty()) {
    for (const auto& [rank, owner] : laid_out(next).owners) {
      next_.push_back(rank);
    }
  }
}

plan::Slot Controller::without_the_lost(const SlotState& state) {
  plan::Slot slot = state.slot;
  slot.parties.clear();
  for (const std::size_t party : state.broken) {
    slot.parties.push_back(state.slot.parties[party]);
  }
  slot = remaining(slot);
  if (!slot.parties.empty()) {
    slot.index = again_++;
    progress_.note(fmt::format("{}: measured again without who is lost", step_of(slot).id));
  }
  return slot;
}

// Without the devices that are not its turn, or were late too often.
SlotState Controller::laid_out(const plan::Slot& slot) const {
  SlotState state = open(slot, step_of(slot), nodes_, gpus_);
  if (step_of(slot).runner != plan::Runner::gpu_workers) {
    return state;
  }
  for (auto& [rank, owner] : state.owners) {
    std::erase_if(owner.gpus, [&, &party = state.party_of(owner)](const plan::OwnedGpu& gpu) {
      return (!slot.device.empty() && slot.device != gpu.label) ||
             samples_.left_out(slot.step, party, gpu.label);
    });
  }
  std::erase_if(state.owners, [&](const auto& entry) { return entry.second.gpus.empty(); });
  return state;
}

SlotState Controller::run_slot(const plan::Slot& slot) {
  SlotState state = laid_out(slot);
  current_slot_ = slot.index;
  current_step_ = step_of(slot).id;
  samples_.begin_slot();
  prepare(state);
  ++turns_;
  if (!state.owners.empty()) {
    measure(state);
  }
  ramps_.add(step_of(slot), samples_.values_of_slot());
  return state;
}

Answers Controller::ask(SlotState& state, const std::string& what, std::map<int, Json> messages,
                        std::function<void(int, const Json&)> answered) {
  current_phase_ = what;
  Listener listener;
  listener.answered = std::move(answered);
  listener.waiting = [&](const std::vector<int>& ranks) {
    std::vector<std::string> names;
    for (const int rank : ranks) {
      names.push_back(attendance_.name_of_rank(rank));
    }
    progress_.waiting_for(names);
  };
  listener.lost = [&](int rank) { return partners_of(state, rank); };
  const Question question{.slot = state.slot.index,
                          .re = what,
                          .messages = std::move(messages),
                          .limit_s = step_of(state.slot).scenario.limit_s,
                          .cut_s = limits_.end_s - now_s_(),
                          .is_followed_up = what == "prepare"};
  return conversation_.ask(question, history_s_[{state.slot.step, what}], listener);
}

void Controller::prepare(SlotState& state) {
  std::map<int, Json> messages;
  for (const auto& [rank, owner] : state.owners) {
    messages[rank] = message_of("prepare", order_for(state, owner));
  }
  state.start_s = now_s_();
  const Answers answers = ask(state, "prepare", std::move(messages), [](int, const Json&) {});
  double longest_s = 0;
  for (const auto& [rank, answer] : answers.given) {
    longest_s = std::max(longest_s, answer.value("s", 0.0));
    state.owners.at(rank).prepare_s = answer.value("s", 0.0);
  }
  preparation_s_ += longest_s;
  settle(state, answers, "prepare");
  for (const auto& [rank, answer] : answers.given) {
    if (answer.value("status", "failed") != to_string(Status::ok)) {
      samples_.add(state, state.owners.at(rank), answer);
      state.owners.erase(rank);
    } else {
      samples_.add_failed_devices(state, state.owners.at(rank), answer);
    }
  }
  drop_broken_parties(state);
}

void Controller::measure(SlotState& state) {
  std::map<int, Json> messages;
  const double limit_s = step_of(state.slot).scenario.limit_s;
  for (const auto& [rank, owner] : state.owners) {
    messages[rank] = {{"do", "measure"}, {"slot", state.slot.index}, {"limit_s", limit_s}};
  }
  // Whose turn is next listens more closely from now on, so that nobody waits for them to wake.
  for (const int rank : next_) {
    if (!state.owners.contains(rank)) {
      conversation_.tell(rank, {{"do", "attend"}});
    }
  }
  state.start_s = now_s_();
  double longest_s = 0;
  double longest_release_s = 0;
  const auto take = [&](int rank, const Json& answer) {
    longest_s = std::max(longest_s, answer.value("s", 0.0));
    longest_release_s = std::max(longest_release_s, answer.value("release_s", 0.0));
    samples_.add(state, state.owners.at(rank), answer);
  };
  const Answers answers = ask(state, "measure", std::move(messages), take);
  measurement_s_ += longest_s;
  preparation_s_ += longest_release_s;
  settle(state, answers, "measure");
}

// What a probe of a group is told of the others.
Json Controller::place_of(int node, const plan::Party& party) const {
  return {{"index", std::find(party.begin(), party.end(), node) - party.begin()},
          {"nodes", attendance_.names_of(party)}};
}

Order Controller::order_for(const SlotState& state, const Owner& owner) const {
  const auto& step = step_of(state.slot);
  const auto& party = state.party_of(owner);
  Order order{.slot = state.slot.index,
              .turn = turns_,
              .runner = step.runner,
              .probe = step.probe.name,
              .params = step.scenario.params,
              .work = step.work,
              .members = {},
              .gpus = {},
              .in_one_process = step.probe.all_gpus,
              .limit_s = step.scenario.limit_s};
  if (is_over_mpi(step)) {
    for (const int node : party) {
      order.members.push_back(nodes_[static_cast<std::size_t>(node)].leader());
    }
  } else if (step.probe.participants == Participants::group) {
    order.work["place"] = place_of(owner.node, party);
  }
  for (const auto& gpu : owner.gpus) {
    order.gpus.push_back({gpu.label, gpu.uuid});
  }
  return order;
}

// Records who was late and marks who is lost; they own the slot no longer. Who was cut short is
// neither.
void Controller::settle(SlotState& state, const Answers& answers, const std::string& phase) {
  if (!answers.lost.empty() && hears_nobody()) {
    state.owners.clear();
    return;
  }
  for (const auto& [rank, reason] : answers.lost) {
    lose(rank, phase, reason);
    if (step_of(state.slot).probe.participants == Participants::group) {
      state.broken.insert(state.owners.at(rank).party);
    }
  }
  if (!answers.lost.empty() && is_over_mpi(step_of(state.slot))) {
    // What hangs makes the next ones slower than they were.
    std::erase_if(history_s_, [&](const auto& entry) {
      return is_over_mpi(steps_[static_cast<std::size_t>(entry.first.first)]);
    });
  }
  state.is_cut = state.is_cut || answers.cut;
  note_cut(state, answers, phase);
  for (const auto& [rank, late] : answers.late) {
    const Owner& owner = state.owners.at(rank);
    if (is_over_mpi(step_of(state.slot))) {
      attendance_.set_stuck(owner.node);
    }
    if (!answers.cut && !is_measured_again(state, owner)) {
      samples_.add_timeout(state, owner,
                           fmt::format("{}: {}{}", phase, late.reason, late.last_words),
                           late.unanswered);
    }
    state.owners.erase(rank);
  }
  for (const auto& [rank, reason] : answers.lost) {
    state.owners.erase(rank);
  }
}

// Who is cut short is not to blame, but a person may want to look there.
void Controller::note_cut(const SlotState& state, const Answers& answers,
                          const std::string& phase) {
  std::vector<std::string> names;
  for (const auto& [rank, late] : answers.late) {
    names.push_back(attendance_.name_of_rank(rank));
  }
  if (answers.cut && !names.empty()) {
    const auto& step = step_of(state.slot);
    attendance_.omit(step.id, std::nullopt,
                     fmt::format("cut short in pass {} of {} ({}), before {} answered",
                                 state.slot.pass + 1, step.passes, phase, fmt::join(names, ", ")));
  }
}

// Where none of several others answers any more, it is the root's own link that is cut: then its
// node is lost, and the run is over.
bool Controller::hears_nobody() {
  auto others = attendance_.ranks();
  std::erase(others, kRoot);
  const auto silent = conversation_.silent(others, kListen_s);
  if (others.size() < 2 || silent.size() < others.size()) {
    return false;
  }
  lose(kRoot, current_phase_, "it leads the run and hears nothing of any other rank");
  attendance_.give_up(silent);
  return true;
}

// Of a run that is over before all is measured: a root that stood still for longer than any other
// rank may be silent is why.
void Controller::lose_the_root_that_stood_still(double pause_s) {
  if (pause_s > plan::kSilence_s && !attendance_.is_lost(kRoot)) {
    lose(kRoot, current_phase_,
         fmt::format("it leads the run and stood still for {:.0f} s", pause_s));
  }
}

bool Controller::is_measured_again(const SlotState& state, const Owner& owner) const {
  const auto& party = state.party_of(owner);
  const auto left =
      std::ranges::count_if(party, [&](int node) { return !attendance_.is_gone(node); });
  return state.broken.contains(owner.party) && left >= 2;
}

// Who measures with this rank and waits for it.
std::vector<int> Controller::partners_of(const SlotState& state, int rank) const {
  if (step_of(state.slot).probe.participants == Participants::node) {
    return {};
  }
  std::vector<int> partners;
  for (const auto& [other, owner] : state.owners) {
    if (other != rank && owner.party == state.owners.at(rank).party) {
      partners.push_back(other);
    }
  }
  return partners;
}

// Who is prepared but misses a partner has nothing to measure.
void Controller::drop_broken_parties(SlotState& state) {
  if (step_of(state.slot).probe.participants == Participants::node) {
    return;
  }
  std::vector<std::size_t> present(state.slot.parties.size(), 0);
  for (const auto& [rank, owner] : state.owners) {
    ++present[owner.party];
  }
  std::erase_if(state.owners, [&](const auto& entry) {
    const auto& [rank, owner] = entry;
    if (present[owner.party] == state.slot.parties[owner.party].size()) {
      return false;
    }
    conversation_.tell(rank, {{"do", "drop"}, {"slot", state.slot.index}});
    return true;
  });
}

void Controller::lose(int rank, const std::string& phase, const std::string& reason) {
  may_finalize_ = false;
  attendance_.lose(rank, {.slot = current_slot_, .step = current_step_, .phase = phase}, reason);
}

void Controller::call_roll(double within_s) {
  lose_the_root_that_stood_still(conversation_.pause_just_over_s());
  const auto asked = attendance_.ranks();
  const auto silent = conversation_.silent(asked, within_s);
  if (2 * silent.size() > asked.size()) {
    return;
  }
  for (const int rank : silent) {
    lose(rank, current_phase_, "it did not answer when the run was broken off");
  }
}

WaitingCost Controller::finish(double end_s) {
  Question question{.slot = -1,
                    .re = "bye",
                    .messages = {},
                    .limit_s = kBye_s,
                    .cut_s = std::max(1.0, end_s - now_s_())};
  for (const int rank : attendance_.ranks()) {
    question.messages[rank] = {{"do", "end"}};
  }
  current_step_ = "end";
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
