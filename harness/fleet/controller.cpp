#include "harness/fleet/controller.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "harness/plan/deadline.hpp"

namespace fleetbench::fleet {
namespace {

constexpr double kBye_s = 10;

plan::Party sorted(plan::Party party) {
  std::sort(party.begin(), party.end());
  return party;
}

}  // namespace

Controller::Controller(Conversation& conversation, const std::vector<NodeInfo>& nodes,
                       const std::vector<plan::PlannedStep>& steps, RecordSink& sink,
                       Progress& progress, std::function<double()> seconds_since_start)
    : conversation_(conversation),
      nodes_(nodes),
      steps_(steps),
      sink_(sink),
      progress_(progress),
      now_s_(std::move(seconds_since_start)),
      gone_(nodes.size(), false) {
  for (const auto& node : nodes_) {
    for (const int rank : node.ranks) {
      node_of_rank_[rank] = node.index;
    }
  }
}

void Controller::run(const std::vector<plan::Slot>& slots, double until_s) {
  const auto count = slots.size();
  for (std::size_t i = 0; i < count && now_s_() <= until_s; ++i) {
    const auto slot = remaining(slots[i]);
    if (slot.parties.empty() || ramp_is_over(slot)) {
      continue;
    }
    next_.clear();
    if (i + 1 < count) {
      for (const auto& [rank, owner] : open(remaining(slots[i + 1])).owners) {
        next_.push_back(rank);
      }
    }
    progress_.slot(static_cast<int>(i) + 1, static_cast<int>(count),
                   plan::describe(slot, steps_[static_cast<std::size_t>(slot.step)]));
    run_slot(slot);
    sink_.sync();
  }
}

plan::Slot Controller::remaining(const plan::Slot& slot) const {
  const auto& step = steps_[static_cast<std::size_t>(slot.step)];
  auto alive = plan::without(slot, gone_, step.probe.participants);
  std::erase_if(alive.parties,
                [&](const plan::Party& party) { return left_out(slot.step, party); });
  return alive;
}

void Controller::run_slot(const plan::Slot& slot) {
  SlotState state = open(slot);
  current_slot_ = slot.index;
  current_step_ = step_of(state).id;
  slot_values_.clear();
  prepare(state);
  if (!state.owners.empty()) {
    measure(state);
  }
  if (const auto& ramp = step_of(state).ramp) {
    ramps_.try_emplace(ramp->of, step_of(state).metrics)
        .first->second.add(ramp->nodes, slot_values_);
  }
}

// Told once for each level that is left out.
bool Controller::ramp_is_over(const plan::Slot& slot) {
  const auto& step = steps_[static_cast<std::size_t>(slot.step)];
  if (!step.ramp || !ramps_.contains(step.ramp->of)) {
    return false;
  }
  const auto& ramp = ramps_.at(step.ramp->of);
  if (ramp.stopped().empty() || step.ramp->nodes <= ramp.highest()) {
    return false;
  }
  if (left_out_levels_.insert(slot.step).second) {
    const auto reason = "left out, to do no harm: " + ramp.stopped();
    sink_.add(OmissionRecord{step.id, std::nullopt, reason});
    progress_.note(fmt::format("{}: {}", step.id, reason));
  }
  return true;
}

Controller::SlotState Controller::open(const plan::Slot& slot) const {
  SlotState state;
  state.slot = slot;
  const bool pairs =
      steps_[static_cast<std::size_t>(slot.step)].probe.participants == Participants::pair;
  for (std::size_t i = 0; i < slot.parties.size(); ++i) {
    const auto& party = slot.parties[i];
    for (const int node : party) {
      Owner owner{.node = node, .peer = std::nullopt, .party = i};
      if (pairs) {
        owner.peer = party[0] == node ? party[1] : party[0];
      }
      state.owners[nodes_[static_cast<std::size_t>(node)].leader()] = owner;
    }
  }
  return state;
}

Answers Controller::ask(SlotState& state, const std::string& what, std::map<int, Json> messages,
                        std::function<void(int, const Json&)> answered) {
  Listener listener;
  listener.answered = std::move(answered);
  listener.waiting = [&](const std::vector<int>& ranks) {
    std::vector<std::string> names;
    for (const int rank : ranks) {
      names.push_back(name(node_of_rank_.at(rank)));
    }
    progress_.waiting_for(names);
  };
  const Question question{.slot = state.slot.index,
                          .re = what,
                          .messages = std::move(messages),
                          .limit_s = step_of(state).scenario.limit_s,
                          .is_followed_up = what == "prepare"};
  return conversation_.ask(question, history_s_[{state.slot.step, what}], listener);
}

void Controller::prepare(SlotState& state) {
  std::map<int, Json> messages;
  for (const auto& [rank, owner] : state.owners) {
    messages[rank] = order_for(state, owner);
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
      record(state, state.owners.at(rank), answer);
      state.owners.erase(rank);
    }
  }
  drop_broken_parties(state);
}

void Controller::measure(SlotState& state) {
  std::map<int, Json> messages;
  const double limit_s = step_of(state).scenario.limit_s;
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
    record(state, state.owners.at(rank), answer);
  };
  const Answers answers = ask(state, "measure", std::move(messages), take);
  measurement_s_ += longest_s;
  preparation_s_ += longest_release_s;
  settle(state, answers, "measure");
}

// What a probe of a group is told of the others.
Json Controller::place_of(int node, const plan::Party& party) const {
  Json names = Json::array();
  for (const int other : party) {
    names.push_back(name(other));
  }
  return {{"index", std::find(party.begin(), party.end(), node) - party.begin()},
          {"nodes", std::move(names)}};
}

Json Controller::order_for(const SlotState& state, const Owner& owner) const {
  const auto& step = step_of(state);
  const auto& party = state.slot.parties[owner.party];
  std::vector<int> members;
  Json work = step.work;
  if (step.over_mpi) {
    for (const int node : party) {
      members.push_back(nodes_[static_cast<std::size_t>(node)].leader());
    }
  } else if (step.probe.participants == Participants::group) {
    work["place"] = place_of(owner.node, party);
  }
  return {{"do", "prepare"},
          {"slot", state.slot.index},
          {"runner", step.over_mpi ? "mpi" : "worker"},
          {"probe", step.probe.name},
          {"params", step.scenario.params},
          {"work", std::move(work)},
          {"members", std::move(members)},
          {"limit_s", step.scenario.limit_s}};
}

// Records who was late and marks who is lost; they own the slot no longer.
void Controller::settle(SlotState& state, const Answers& answers, const std::string& phase) {
  for (const int rank : answers.late) {
    const Owner owner = state.owners.at(rank);
    record_failure(state, owner, Status::timeout,
                   fmt::format("{}: {}{}", phase, answers.lateness, answers.last_words.at(rank)));
    count_timeout(state, owner);
    state.owners.erase(rank);
  }
  for (const int rank : answers.lost) {
    lose(rank, phase, answers.lateness + ", nor to being told to give up");
    state.owners.erase(rank);
  }
}

// Who is prepared but misses a partner has nothing to measure.
void Controller::drop_broken_parties(SlotState& state) {
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

// Who measures together, where a reader cannot know it: not each by itself, not two, not all.
plan::Party Controller::group_of(const SlotState& state, const Owner& owner) const {
  const auto& step = step_of(state);
  const bool grouped =
      step.probe.participants == Participants::group && step.scenario.groups.has_value();
  return grouped ? state.slot.parties[owner.party] : plan::Party{};
}

std::vector<std::string> Controller::names_of(const plan::Party& party) const {
  std::vector<std::string> names;
  for (const int node : party) {
    names.push_back(name(node));
  }
  return names;
}

void Controller::record(const SlotState& state, const Owner& owner, const Json& answer) {
  SampleRecord sample{.slot = state.slot.index,
                      .step = state.slot.step,
                      .pass = state.slot.pass,
                      .node = owner.node,
                      .peer = owner.peer,
                      .confirms = state.slot.confirms,
                      .group = group_of(state, owner),
                      .status = parse_status(answer.value("status", "failed")),
                      .reason = answer.value("reason", ""),
                      .values = {},
                      .start_s = state.start_s,
                      .prepare_s = owner.prepare_s,
                      .measure_s = answer.value("s", 0.0),
                      .detail = answer.value("detail", Json())};
  if (sample.status == Status::ok) {
    sample.values = values_from_json(answer.value("values", Json::array()));
    const auto expected = step_of(state).metrics.size();
    if (sample.values.size() != expected) {
      sample.status = Status::failed;
      sample.reason =
          fmt::format("it gave {} values, {} were asked for", sample.values.size(), expected);
      sample.values.clear();
    }
  }
  if (sample.status == Status::timeout) {
    count_timeout(state, owner);
  }
  slot_values_.push_back(sample.values);
  sink_.add(sample);
}

void Controller::record_failure(const SlotState& state, const Owner& owner, Status status,
                                const std::string& reason) {
  slot_values_.emplace_back();
  sink_.add(SampleRecord{.slot = state.slot.index,
                         .step = state.slot.step,
                         .pass = state.slot.pass,
                         .node = owner.node,
                         .peer = owner.peer,
                         .confirms = state.slot.confirms,
                         .group = group_of(state, owner),
                         .status = status,
                         .reason = reason,
                         .values = {},
                         .start_s = state.start_s,
                         .prepare_s = owner.prepare_s,
                         .measure_s = 0,
                         .detail = nullptr});
}

void Controller::count_timeout(const SlotState& state, const Owner& owner) {
  auto& timeouts = timeouts_[{state.slot.step, sorted(state.slot.parties[owner.party])}];
  if (timeouts.last_slot == state.slot.index) {
    return;  // both ends of a pair report the same one
  }
  timeouts.last_slot = state.slot.index;
  if (++timeouts.count == kTimeoutsAllowed) {
    auto reason = fmt::format("left out after {} time-outs", timeouts.count);
    std::optional<int> node = owner.node;
    if (owner.peer) {
      reason = fmt::format("{} with {}: {}", name(owner.node), name(*owner.peer), reason);
    }
    const auto group = group_of(state, owner);
    if (!group.empty()) {
      reason = fmt::format("the group of {}: {}", fmt::join(names_of(group), ", "), reason);
    }
    if (state.slot.parties[owner.party].size() > 1) {
      node.reset();  // which of them is at fault is not known
    }
    sink_.add(OmissionRecord{step_of(state).id, node, reason});
    progress_.note(
        fmt::format("{}{}: {}", step_of(state).id, node ? " on " + name(*node) : "", reason));
  }
}

bool Controller::left_out(int step, const plan::Party& party) const {
  const auto found = timeouts_.find({step, sorted(party)});
  return found != timeouts_.end() && found->second.count >= kTimeoutsAllowed;
}

void Controller::lose(int rank, const std::string& phase, const std::string& reason) {
  const int node = node_of_rank_.at(rank);
  gone_[static_cast<std::size_t>(node)] = true;
  lost_ranks_.push_back(rank);
  may_finalize_ = false;
  sink_.add(LossRecord{.rank = rank,
                       .node = node,
                       .slot = current_slot_,
                       .step = current_step_,
                       .phase = phase,
                       .reason = reason});
  progress_.note(fmt::format("lost: rank {} on {} ({} of {}): {}", rank, name(node), phase,
                             current_step_, reason));
}

WaitingCost Controller::finish(int ranks) {
  Question question{.slot = -1, .re = "bye", .messages = {}, .limit_s = kBye_s};
  for (int rank = 0; rank < ranks; ++rank) {
    if (std::find(lost_ranks_.begin(), lost_ranks_.end(), rank) == lost_ranks_.end()) {
      question.messages[rank] = {{"do", "end"}};
    }
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
  for (const auto* silent : {&answers.late, &answers.lost}) {
    for (const int rank : *silent) {
      lose(rank, "bye", answers.lateness);
    }
  }
  return cost;
}

}  // namespace fleetbench::fleet
