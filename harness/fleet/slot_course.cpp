#include "harness/fleet/slot_course.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "harness/fleet/agent.hpp"
#include "harness/plan/upper_median.hpp"

namespace fleetbench::fleet {
namespace {

// Long enough for an answer to a ping on a busy node.
constexpr double kListen_s = 3;

bool is_over_mpi(const plan::PlannedStep& step) { return step.runner == plan::Runner::rank; }

}  // namespace

SlotCourse::SlotCourse(Conversation& conversation, const std::vector<NodeInfo>& nodes,
                       const FleetGpus& gpus, const std::vector<plan::PlannedStep>& steps,
                       Progress& progress, std::function<double()> now_s, Attendance& attendance,
                       SlotSamples& samples)
    : conversation_(conversation),
      nodes_(nodes),
      gpus_(gpus),
      steps_(steps),
      progress_(progress),
      now_s_(std::move(now_s)),
      attendance_(attendance),
      samples_(samples),
      orders_(nodes, steps, attendance) {}

// Without the devices that are not its turn, or were late too often.
SlotState SlotCourse::laid_out(const plan::Slot& slot) const {
  if (step_of(slot).probe.joins_workers) {
    return laid_out(slot, plan::teams_of(slot, step_of(slot), gpus_));
  }
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

SlotState SlotCourse::laid_out(const plan::Slot& slot, std::vector<plan::Team> teams) const {
  for (plan::Team& team : teams) {
    const auto left_out = std::erase_if(team.members, [&](const plan::Member& member) {
      return attendance_.is_gone(member.node) ||
             samples_.left_out(slot.step, {member.node}, member.gpu.label);
    });
    team.is_whole = team.is_whole && left_out == 0;
  }
  std::erase_if(teams, [&](const plan::Team& team) {
    return !plan::is_large_enough(team, step_of(slot)) ||
           samples_.left_out(slot.step, slot.parties[team.party], plan::rail_of(team));
  });
  return open_teams(slot, step_of(slot), std::move(teams));
}

void SlotCourse::run(SlotState& state, const std::vector<int>& next, double end_s) {
  next_ = next;
  end_s_ = end_s;
  moment_ = {.slot = state.slot.index, .step = step_of(state.slot).id, .phase = moment_.phase};
  samples_.begin_slot();
  teams_.reset();
  if (!state.teams.empty() || !state.hunts.empty()) {
    teams_.emplace(state, step_of(state.slot), samples_, attendance_);
  }
  prepare(state);
  ++turns_;
  if (!state.owners.empty()) {
    measure(state);
  }
}

Answers SlotCourse::ask(SlotState& state, const std::string& what,
                        std::map<int, MakeMessage> messages,
                        std::function<void(int, const Json&)> answered) {
  moment_.phase = what;
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
  const bool is_joined = teams_ && what == "measure";
  if (is_joined) {
    listener.overdue = [&] { return teams_->overdue(TeamCourse::Clock::now()); };
  }
  const Question question{.slot = state.slot.index,
                          .re = what,
                          .messages = std::move(messages),
                          .limit_s = step_of(state.slot).scenario.limit_s,
                          .cut_s = end_s_ - now_s_(),
                          // Who waits for others says so when its own time is up.
                          .is_patient = is_joined,
                          .is_followed_up = what == "prepare"};
  return conversation_.ask(question, history_s_[{state.slot.step, what}], listener);
}

void SlotCourse::prepare(SlotState& state) {
  std::map<int, MakeMessage> messages;
  for (const auto& [rank, owner] : state.owners) {
    messages[rank] = [&, &owner = owner] {
      return message_of("prepare", orders_.order_for(state, owner, turns_));
    };
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
  if (teams_) {
    end_preparation_of_teams(state, answers);
    return;
  }
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

void SlotCourse::end_preparation_of_teams(SlotState& state, const Answers& answers) {
  for (const auto& [rank, answer] : answers.given) {
    teams_->add(rank, answer);
  }
  for (const int rank : teams_->end_preparation()) {
    conversation_.tell(rank, {{"do", "drop"}, {"slot", state.slot.index}});
  }
}

Json SlotCourse::order_to_measure(const SlotState& state, const Owner& owner) const {
  const double limit_s = step_of(state.slot).scenario.limit_s;
  Json order{{"do", "measure"}, {"slot", state.slot.index}, {"limit_s", limit_s}};
  if (teams_) {
    order["invitations"] = teams_->invitations_for(owner);
  }
  return order;
}

void SlotCourse::measure(SlotState& state) {
  std::map<int, MakeMessage> messages;
  for (const auto& [rank, owner] : state.owners) {
    messages[rank] = [&, &owner = owner] { return order_to_measure(state, owner); };
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
    if (teams_) {
      teams_->add(rank, answer);
    } else {
      samples_.add(state, state.owners.at(rank), answer);
    }
  };
  const Answers answers = ask(state, "measure", std::move(messages), take);
  measurement_s_ += longest_s;
  preparation_s_ += longest_release_s;
  settle(state, answers, "measure");
  if (teams_) {
    teams_->end_measurement();
  }
}

// Records who was late and marks who is lost; they own the slot no longer. Who was cut short is
// neither.
void SlotCourse::settle(SlotState& state, const Answers& answers, const std::string& phase) {
  if (!answers.lost.empty() && hears_nobody()) {
    state.owners.clear();
    return;
  }
  for (const auto& [rank, reason] : answers.lost) {
    lose(rank, phase, reason);
    if (step_of(state.slot).probe.participants == Participants::group && !teams_) {
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
    if (teams_ && !answers.cut) {
      teams_->add_late(rank, late);
    } else if (!answers.cut && !is_measured_again(state, owner)) {
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
void SlotCourse::note_cut(const SlotState& state, const Answers& answers,
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
bool SlotCourse::hears_nobody() {
  auto others = attendance_.ranks();
  std::erase(others, kRoot);
  const auto silent = conversation_.silent(others, kListen_s);
  if (others.size() < 2 || silent.size() < others.size()) {
    return false;
  }
  lose(kRoot, moment_.phase, "it leads the run and hears nothing of any other rank");
  attendance_.give_up(silent);
  return true;
}

bool SlotCourse::is_measured_again(const SlotState& state, const Owner& owner) const {
  const auto& party = state.party_of(owner);
  const auto left =
      std::ranges::count_if(party, [&](int node) { return !attendance_.is_gone(node); });
  return state.broken.contains(owner.party) && left >= 2;
}

// Who measures with this rank and waits for it.
std::vector<int> SlotCourse::partners_of(const SlotState& state, int rank) {
  if (teams_) {
    const auto partners =
        moment_.phase == "measure" ? teams_->partners_of(rank) : std::vector<int>();
    for (const int partner : partners) {
      teams_->forsake(partner);
    }
    return partners;
  }
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
void SlotCourse::drop_broken_parties(SlotState& state) {
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

void SlotCourse::lose(int rank, const std::string& phase, const std::string& reason) {
  moment_.phase = phase;
  attendance_.lose(rank, moment_, reason);
}

double SlotCourse::expected_s(int step) const {
  double expected_s = 0;
  for (const char* phase : {"prepare", "measure"}) {
    const auto history = history_s_.find({step, phase});
    if (history != history_s_.end() && !history->second.empty()) {
      expected_s += plan::upper_median(history->second);
    }
  }
  return expected_s;
}

}  // namespace fleetbench::fleet
