#include "harness/fleet/team_course.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/fleet/culprits.hpp"
#include "harness/fleet/gpu_runner.hpp"

namespace fleetbench::fleet {
namespace {

bool is_ok(const Json& answer) {
  return answer.is_object() && answer.value("status", "failed") == to_string(Status::ok);
}

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
  if (!is_ok(device) && !of_team.failed) {
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
    std::vector<std::size_t> to_blame;
    for (std::size_t i = 0; i < of_team.answers.size(); ++i) {
      if (!of_team.answers[i].is_null() && !is_ok(of_team.answers[i])) {
        to_blame.push_back(i);
        record(team, i, true);
      }
    }
    of_team.is_over = !std::ranges::all_of(of_team.answers, is_ok);
    if (of_team.is_over) {
      measure_again(team, to_blame);
    } else {
      of_team.invitation = of_team.answers.front().value("invitation", "");
    }
    of_team.answers.assign(of_team.answers.size(), Json());
    of_team.failed.reset();
  }
  measures_ = true;
  return without_a_team();
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

std::vector<int> TeamCourse::overdue(Clock::time_point now) const {
  std::set<int> ranks;
  for (std::size_t team = 0; team < progress_.size(); ++team) {
    const Team& of_team = progress_[team];
    if (of_team.is_over || !of_team.failed ||
        now - *of_team.failed < std::chrono::duration<double>(kTeamRest_s)) {
      continue;
    }
    for (std::size_t i = 0; i < of_team.answers.size(); ++i) {
      if (of_team.answers[i].is_null()) {
        ranks.insert(state_.teams[team].members[i].gpu.rank);
      }
    }
  }
  return {ranks.begin(), ranks.end()};
}

void TeamCourse::end_measurement() {
  for (std::size_t team = 0; team < progress_.size(); ++team) {
    if (!progress_[team].is_over) {
      settle(team);
    }
  }
}

void TeamCourse::settle(std::size_t team) {
  Team& of_team = progress_[team];
  of_team.is_over = true;
  const bool is_false = std::ranges::any_of(of_team.answers, [](const Json& answer) {
    return answer.is_object() && answer.value("status", "") == to_string(Status::wrong);
  });
  std::vector<std::size_t> to_blame;
  if (!is_false && !state_.is_cut) {
    to_blame = culprits(of_team.answers);
  }
  const std::string others = words_of_who_waited(of_team.answers, to_blame);
  for (const std::size_t member : to_blame) {
    Json& answer = of_team.answers[member];
    if (answer.is_object() && !others.empty()) {
      answer["reason"] = fmt::format("{}; meanwhile {}", answer.value("reason", ""), others);
    }
    record(team, member, true);
  }
  if (!to_blame.empty() && measure_again(team, to_blame)) {
    return;
  }
  for (std::size_t i = 0; i < of_team.answers.size(); ++i) {
    const bool counts = is_ok(of_team.answers[i]) || (to_blame.empty() && !state_.is_cut);
    if (counts && std::ranges::count(to_blame, i) == 0) {
      record(team, i, false);
    }
  }
}

void TeamCourse::record(std::size_t team, std::size_t member, bool is_to_blame) {
  const Json& answer = progress_[team].answers[member];
  if (answer.is_object()) {
    const int rank = state_.teams[team].members[member].gpu.rank;
    samples_.add_of_team(state_, owners_.at(rank), answer, is_to_blame);
  }
}

bool TeamCourse::measure_again(std::size_t team, const std::vector<std::size_t>& without) {
  const plan::Team& all = state_.teams[team];
  plan::Team rest{.party = all.party, .members = {}, .is_whole = false};
  for (std::size_t i = 0; i < all.members.size(); ++i) {
    if (std::ranges::count(without, i) == 0 && !attendance_.is_gone(all.members[i].node)) {
      rest.members.push_back(all.members[i]);
    }
  }
  const bool is_pair = step_.probe.participants == Participants::pair;
  if (is_pair || state_.is_cut || state_.attempt + 1 >= kMostAttempts ||
      !plan::is_large_enough(rest, step_)) {
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
