// What becomes of the teams of a slot: GPUs that measure with each other and wait for each other.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/fleet/conversation.hpp"
#include "harness/fleet/order.hpp"
#include "harness/fleet/slot_samples.hpp"
#include "harness/fleet/slot_state.hpp"

namespace fleetbench::fleet {

// How often a group, or what is left of it, is measured in a slot.
inline constexpr int kMostAttempts = 5;

// One phase after the other: answers come in, then it ends. Samples are recorded of teams that
// succeeded, and of those to blame where one failed (culprits.hpp); the others of a group are left
// in SlotState::again, those of a pair have nothing to measure. Where it cannot be told who is to
// blame, a group is searched (hunt.hpp); if that does not tell either, or cannot go on, all are
// recorded as they were before.
class TeamCourse {
 public:
  using Clock = std::chrono::steady_clock;

  // All of them must outlive it.
  TeamCourse(SlotState& state, const plan::PlannedStep& step, SlotSamples& samples,
             const Attendance& attendance);

  // An answer of a rank for its GPUs; while they measure, a team that is complete by it is
  // recorded.
  void add(int rank, const Json& answer);
  // The rank gave up in vain.
  void add_late(int rank, const Late& late);
  // The rank waits for one that is lost: what it does not answer from now on is not its own fault.
  void forsake(int rank) { forsaken_.insert(rank); }

  // From here on only teams all of whose members are prepared take part. Returns those who are
  // prepared for none of them: they own the slot no longer. Where nobody is left to measure, all is
  // over by that.
  std::vector<int> end_preparation();
  // By what the GPUs of this owner join their teams.
  Invitations invitations_for(const Owner& owner) const;
  // Who does not answer though a member of its team failed kTeamRest_s ago, and for which GPUs, by
  // rank.
  std::vector<Overdue> overdue(Clock::time_point now) const;
  void end_measurement();

  // Ranks that have a GPU in a team with one of this rank's.
  std::vector<int> partners_of(int rank) const;

 private:
  struct Team {
    std::vector<Json> answers;  // of the phase, by member; null: none yet
    std::string invitation;
    std::optional<Clock::time_point> failed;  // since when somebody has, in the phase
    bool is_over = false;                     // in this slot
    std::vector<std::size_t> to_blame;        // of its members
  };

  void put(int rank, Json device);
  std::vector<int> without_a_team();
  void settle(std::size_t team);
  void record(std::size_t team, std::size_t member, bool is_to_blame);
  void record_rest(std::size_t team);
  std::vector<plan::Member> members_to_blame(std::size_t team) const;
  bool may_go_on() const;
  // False where too few are left, or it was tried too often.
  bool measure_again(const plan::Team& all, const std::vector<plan::Member>& without);
  // False where it is too small, or was tried too often.
  bool begin_hunt(std::size_t team);
  void hunt_on(Hunt hunt, std::vector<plan::Team> parts);
  void end_hunts();
  void end_all_in_vain();
  // False where it does not tell who is to blame.
  bool end_hunt(const Hunt& hunt, const std::vector<std::size_t>& parts);
  void end_in_vain(const Hunt& hunt);
  void record_found(const Hunt& hunt, const std::vector<plan::Member>& members);
  // Of members of the team that is hunted in, as it was when that failed.
  void record_before(const Hunt& hunt, const std::vector<std::size_t>& members,
                     const std::string& more, bool is_to_blame);

  SlotState& state_;
  const plan::PlannedStep& step_;
  SlotSamples& samples_;
  const Attendance& attendance_;
  std::map<int, Owner> owners_;  // all that there were
  std::vector<Team> progress_;   // by team
  // By rank and label: which team, and which of its members.
  std::map<std::pair<int, std::string>, std::pair<std::size_t, std::size_t>> seats_;
  std::set<int> forsaken_;
  bool measures_ = false;
};

}  // namespace fleetbench::fleet
