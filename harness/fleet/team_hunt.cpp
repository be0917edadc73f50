// How TeamCourse finds who keeps a group up all of whose members wait alike.
#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "harness/fleet/agent.hpp"
#include "harness/fleet/culprits.hpp"
#include "harness/fleet/team_course.hpp"

namespace fleetbench::fleet {

bool TeamCourse::begin_hunt(std::size_t team) {
  const plan::Team& all = state_.teams[team];
  // Its halves, their pairs, and what is left.
  if (!may_go_on() || state_.attempt + 3 >= kMostAttempts || !can_be_halved(all)) {
    return false;
  }
  hunt_on({.team = all,
           .answers = progress_[team].answers,
           .slot = state_.slot.index,
           .start_s = state_.start_s},
          halves(all));
  return true;
}

void TeamCourse::hunt_on(Hunt hunt, std::vector<plan::Team> parts) {
  for (plan::Team& part : parts) {
    part.hunt = state_.hunts_again.size();
    state_.again.push_back(std::move(part));
  }
  state_.hunts_again.push_back(std::move(hunt));
}

void TeamCourse::end_hunts() {
  // Whom a run that is over leaves without an answer is not to blame.
  if (state_.is_cut || attendance_.is_lost(kRoot)) {
    end_all_in_vain();
    return;
  }
  std::vector<std::vector<std::size_t>> parts(state_.hunts.size());
  for (std::size_t team = 0; team < state_.teams.size(); ++team) {
    if (const auto hunt = state_.teams[team].hunt) {
      parts[*hunt].push_back(team);
    }
  }
  for (std::size_t hunt = 0; hunt < parts.size(); ++hunt) {
    if (!end_hunt(state_.hunts[hunt], parts[hunt])) {
      end_in_vain(state_.hunts[hunt]);
    }
  }
}

// Also those that were to go on in another attempt: there is none.
void TeamCourse::end_all_in_vain() {
  for (const auto* hunts : {&state_.hunts, &state_.hunts_again}) {
    for (const Hunt& hunt : *hunts) {
      end_in_vain(hunt);
    }
  }
  state_.hunts_again.clear();
  state_.again.clear();
}

bool TeamCourse::end_hunt(const Hunt& hunt, const std::vector<std::size_t>& parts) {
  std::vector<std::size_t> failed;
  std::vector<plan::Member> to_blame;
  for (const std::size_t part : parts) {
    if (std::ranges::all_of(progress_[part].answers, succeeded)) {
      continue;
    }
    failed.push_back(part);
    const bool all_answered = std::ranges::none_of(progress_[part].answers, &Json::is_null);
    if (hunt.in_pairs && all_answered && progress_[part].to_blame.empty()) {
      progress_[part].to_blame = {0};
    }
    std::ranges::copy(members_to_blame(part), std::back_inserter(to_blame));
  }
  if (to_blame.size() == hunt.team.members.size()) {
    return false;
  }
  if (!to_blame.empty()) {
    record_found(hunt, to_blame);
    measure_again(hunt.team, to_blame);
    return true;
  }
  if (hunt.in_pairs || failed.size() != 1 || parts.size() != 2) {
    return false;
  }
  const std::size_t sound = failed.front() == parts[0] ? parts[1] : parts[0];
  Hunt in_pairs = hunt;
  in_pairs.in_pairs = true;
  hunt_on(std::move(in_pairs), with_partners(state_.teams[failed.front()], state_.teams[sound]));
  return true;
}

void TeamCourse::record_found(const Hunt& hunt, const std::vector<plan::Member>& members) {
  for (std::size_t i = 0; i < hunt.team.members.size(); ++i) {
    if (plan::is_among(hunt.team.members[i], members)) {
      record_before(hunt, {i}, "; measured in parts, those with it fail", true);
    }
  }
}

void TeamCourse::end_in_vain(const Hunt& hunt) {
  std::vector<std::size_t> all(hunt.team.members.size());
  std::iota(all.begin(), all.end(), 0);
  record_before(hunt, all, "", false);
}

void TeamCourse::record_before(const Hunt& hunt, const std::vector<std::size_t>& members,
                               const std::string& more, bool is_to_blame) {
  SlotState before = open_teams(state_.slot, step_, {hunt.team});
  before.slot.index = hunt.slot;
  before.start_s = hunt.start_s;
  for (const std::size_t member : members) {
    Json answer = hunt.answers[member];
    if (answer.is_object()) {
      answer["reason"] = answer.value("reason", "") + more;
      const Owner& owner = before.owners.at(hunt.team.members[member].gpu.rank);
      samples_.add_of_team(before, owner, answer, is_to_blame);
    }
  }
}

}  // namespace fleetbench::fleet
