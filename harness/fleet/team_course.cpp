#include "harness/fleet/team_course.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/fleet/culprits.hpp"
#include "harness/fleet/gpu_runner.hpp"

namespace fleetbench::fleet {
namespace {

bool is_late(const Json& answer) {
  return answer.is_object() && answer.value("status", "failed") == to_string(Status::timeout);
}

// What one says that waited for others; empty where nobody does.
std::string words_of_who_waited(const std::vector<Json>& answers,
                                const std::vector<std::size_t>& to_blame) {
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const bool says_its_phase =
        is_late(answers[i]) && answers[i].value("detail", Json()).contains("phase");
    if (says_its_phase && std::ranges::count(to_blame, i) == 0) {
      return answers[i].value("reason", "");
    }
  }
  return "";
}

// In the reasons of those to blame.
void add_words_of_who_waited(std::vector<Json>& answers, const std::vector<std::size_t>& to_blame) {
  const std::string words = words_of_who_waited(answers, to_blame);
  for (const std::size_t i : to_blame) {
    if (answers[i].is_object() && !words.empty()) {
      answers[i]["reason"] = fmt::format("{}; meanwhile {}", answers[i].value("reason", ""), words);
    }
  }
}

}  // namespace

TeamCourse::TeamCourse(SlotState& state, const plan::PlannedStep& step, SlotSamples& samples,
                       const Attendance& attendance)
    : state_(state),
      step_(step),
      samples_(samples),
      attendance_(attendance),
      owners_(state.owners),
      progress_(state.teams.size()) {
  for (std::size_t team = 0; team < state.teams.size(); ++team) {
    const auto& members = state.teams[team].members;
    progress_[team].answers.resize(members.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
      seats_[{members[i].gpu.rank, members[i].gpu.label}] = {team, i};
    }
  }
}

void TeamCourse::add(int rank, const Json& answer) {
  if (!measures_) {
    owners_.at(rank).prepare_s = answer.value("s", 0.0);
  }
  for (const Json& device : answer.value("devices", Json::array())) {
    put(rank, device);
  }
}

void TeamCourse::add_late(int rank, const Late& late) {
  for (const auto& gpu : owners_.at(rank).gpus) {
    if (late.unanswered.empty() || std::ranges::count(late.unanswered, gpu.label) > 0) {
      put(rank, {{"device", gpu.label},
                 {"status", to_string(Status::timeout)},
                 {"reason", fmt::format("{}: {}{}", measures_ ? "measure" : "prepare", late.reason,
                                        late.last_words)}});
    }
  }
}

void TeamCourse::put(int rank, Json device) {
  const auto seat = seats_.find({rank, device.value("device", "")});
  if (seat == seats_.end()) {
    return;
  }
  const auto [team, member] = seat->second;
  Team& of_team = progress_[team];
  if (of_team.is_over || !of_team.answers[member].is_null()) {
    return;
  }
  if (is_late(device) && forsaken_.contains(rank)) {
    device[kForsaken] = true;
  }
  if (!succeeded(device) && !of_team.failed) {
    of_team.failed = Clock::now();
  }
  of_team.answers[member] = std::move(device);
  if (measures_ && std::ranges::none_of(of_team.answers, &Json::is_null)) {
    settle(team);
  }
}

std::vector<int> TeamCourse::end_preparation() {
  for (std::size_t team = 0; team < progress_.size(); ++team) {
    Team& of_team = progress_[team];
    for (std::size_t i = 0; i < of_team.answers.size(); ++i) {
      if (!succeeded(of_team.answers[i])) {
        of_team.to_blame.push_back(i);
      }
    }
    of_team.is_over = !std::ranges::all_of(of_team.answers, succeeded);
    if (of_team.is_over && !state_.teams[team].hunt) {
      for (const std::size_t member : of_team.to_blame) {
        record(team, member, true);
      }
      measure_again(state_.teams[team], members_to_blame(team));
    } else if (!of_team.is_over) {
      of_team.invitation = of_team.answers.front().value("invitation", "");
    }
    if (!of_team.is_over) {
      of_team.answers.assign(of_team.answers.size(), Json());
      of_team.failed.reset();
    }
  }
  measures_ = true;
  auto without = without_a_team();
  if (state_.owners.empty()) {
    end_hunts();
  }
  return without;
}

std::vector<int> TeamCourse::without_a_team() {
  std::vector<int> ranks;
  for (auto& [rank, owner] : state_.owners) {
    std::erase_if(owner.gpus, [&, &teams = owner.teams](const plan::OwnedGpu& gpu) {
      return progress_[teams.at(gpu.label)].is_over;
    });
    if (owner.gpus.empty()) {
      ranks.push_back(rank);
    }
  }
  for (const int rank : ranks) {
    state_.owners.erase(rank);
  }
  return ranks;
}

Invitations TeamCourse::invitations_for(const Owner& owner) const {
  Invitations invitations;
  for (const auto& gpu : owner.gpus) {
    invitations[gpu.label] = progress_[owner.teams.at(gpu.label)].invitation;
  }
  return invitations;
}

std::vector<Overdue> TeamCourse::overdue(Clock::time_point now) const {
  std::map<int, std::vector<std::string>> labels;
  for (std::size_t team = 0; team < progress_.size(); ++team) {
    const Team& of_team = progress_[team];
    if (of_team.is_over || !of_team.failed ||
        now - *of_team.failed < std::chrono::duration<double>(kTeamRest_s)) {
      continue;
    }
    for (std::size_t i = 0; i < of_team.answers.size(); ++i) {
      if (of_team.answers[i].is_null()) {
        const plan::OwnedGpu& gpu = state_.teams[team].members[i].gpu;
        labels[gpu.rank].push_back(gpu.label);
      }
    }
  }
  std::vector<Overdue> all;
  for (auto& [rank, devices] : labels) {
    if (devices.size() == state_.owners.at(rank).gpus.size()) {
      devices.clear();
    }
    all.push_back({rank, std::move(devices)});
  }
  return all;
}

void TeamCourse::end_measurement() {
  for (std::size_t team = 0; team < progress_.size(); ++team) {
    if (!progress_[team].is_over) {
      settle(team);
    }
  }
  end_hunts();
}

void TeamCourse::settle(std::size_t team) {
  Team& of_team = progress_[team];
  of_team.is_over = true;
  const bool is_false = std::ranges::any_of(of_team.answers, [](const Json& answer) {
    return answer.is_object() && answer.value("status", "") == to_string(Status::wrong);
  });
  if (!is_false && !state_.is_cut) {
    of_team.to_blame = culprits(of_team.answers);
  }
  add_words_of_who_waited(of_team.answers, of_team.to_blame);
  if (state_.teams[team].hunt) {
    return;
  }
  for (const std::size_t member : of_team.to_blame) {
    record(team, member, true);
  }
  const bool is_told = !of_team.to_blame.empty();
  const bool has_failed = !std::ranges::all_of(of_team.answers, succeeded);
  if (is_told ? measure_again(state_.teams[team], members_to_blame(team))
              : has_failed && !is_false && begin_hunt(team)) {
    return;
  }
  record_rest(team);
}

// Of whom is not to blame: what is measured, and where nobody is, what is not.
void TeamCourse::record_rest(std::size_t team) {
  const Team& of_team = progress_[team];
  const bool all = of_team.to_blame.empty() && !state_.is_cut;
  for (std::size_t i = 0; i < of_team.answers.size(); ++i) {
    if ((all || succeeded(of_team.answers[i])) && std::ranges::count(of_team.to_blame, i) == 0) {
      record(team, i, false);
    }
  }
}

std::vector<plan::Member> TeamCourse::members_to_blame(std::size_t team) const {
  std::vector<plan::Member> members;
  for (const std::size_t member : progress_[team].to_blame) {
    members.push_back(state_.teams[team].members[member]);
  }
  return members;
}

bool TeamCourse::may_go_on() const {
  return step_.probe.participants != Participants::pair && !state_.is_cut &&
         state_.attempt + 1 < kMostAttempts;
}

void TeamCourse::record(std::size_t team, std::size_t member, bool is_to_blame) {
  const Json& answer = progress_[team].answers[member];
  if (answer.is_object()) {
    const int rank = state_.teams[team].members[member].gpu.rank;
    samples_.add_of_team(state_, owners_.at(rank), answer, is_to_blame);
  }
}

bool TeamCourse::measure_again(const plan::Team& all, const std::vector<plan::Member>& without) {
  plan::Team rest{.party = all.party, .members = {}, .is_whole = false};
  for (const plan::Member& member : all.members) {
    if (!plan::is_among(member, without) && !attendance_.is_gone(member.node)) {
      rest.members.push_back(member);
    }
  }
  if (!may_go_on() || !plan::is_large_enough(rest, step_)) {
    return false;
  }
  state_.again.push_back(std::move(rest));
  return true;
}

std::vector<int> TeamCourse::partners_of(int rank) const {
  std::set<int> partners;
  const auto owner = owners_.find(rank);
  if (owner != owners_.end()) {
    for (const auto& [label, team] : owner->second.teams) {
      for (const plan::Member& member : state_.teams[team].members) {
        partners.insert(member.gpu.rank);
      }
    }
  }
  partners.erase(rank);
  return {partners.begin(), partners.end()};
}

}  // namespace fleetbench::fleet
