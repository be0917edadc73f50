// The root: has every slot of a run measured, whoever drops out, and records what comes back.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/fleet/conversation.hpp"
#include "harness/fleet/observers.hpp"
#include "harness/plan/ramp.hpp"
#include "harness/plan/slots.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::fleet {

// A worker or pair that was late this often is left out of the step.
inline constexpr int kTimeoutsAllowed = 2;

class Controller {
 public:
  // `seconds_since_start` is the clock of the run.
  Controller(Conversation& conversation, const std::vector<NodeInfo>& nodes,
             const std::vector<plan::PlannedStep>& steps, RecordSink& sink, Progress& progress,
             std::function<double()> seconds_since_start);

  // Runs the slots in order; none begins after `until_s` on the clock of the run. May be called
  // again with slots of other numbers. What `turn` of the conversation throws passes through;
  // everything measured before is recorded.
  void run(const std::vector<plan::Slot>& slots, double until_s);

  // Ends the agents and returns what waiting cost them. Afterwards may_finalize() is known.
  WaitingCost finish(int ranks);

  // A rank that never reported; its node is left out from the start.
  void lose(int rank, const std::string& phase, const std::string& reason);

  // Wall time of what was prepared and measured so far: of the slowest owner of each slot.
  double preparation_s() const { return preparation_s_; }
  double measurement_s() const { return measurement_s_; }
  // False where a rank is lost or a measurement was abandoned inside MPI.
  bool may_finalize() const { return may_finalize_; }

 private:
  // One owner of the slot under way.
  struct Owner {
    int node = 0;
    std::optional<int> peer;  // of a pair
    std::size_t party = 0;
    double prepare_s = 0;
  };
  struct Timeouts {
    int count = 0;
    int last_slot = -1;
  };
  struct SlotState {
    plan::Slot slot;
    std::map<int, Owner> owners;  // by rank
    double start_s = 0;
  };

  plan::Slot remaining(const plan::Slot& slot) const;
  void run_slot(const plan::Slot& slot);
  bool ramp_is_over(const plan::Slot& slot);
  SlotState open(const plan::Slot& slot) const;
  Answers ask(SlotState& state, const std::string& what, std::map<int, Json> messages,
              std::function<void(int, const Json&)> answered);
  void prepare(SlotState& state);
  void measure(SlotState& state);
  Json place_of(int node, const plan::Party& party) const;
  Json order_for(const SlotState& state, const Owner& owner) const;
  void settle(SlotState& state, const Answers& answers, const std::string& phase);
  void drop_broken_parties(SlotState& state);
  plan::Party group_of(const SlotState& state, const Owner& owner) const;
  std::vector<std::string> names_of(const plan::Party& party) const;
  void record(const SlotState& state, const Owner& owner, const Json& answer);
  void record_failure(const SlotState& state, const Owner& owner, Status status,
                      const std::string& reason);
  void count_timeout(const SlotState& state, const Owner& owner);
  bool left_out(int step, const plan::Party& party) const;
  const plan::PlannedStep& step_of(const SlotState& state) const {
    return steps_[static_cast<std::size_t>(state.slot.step)];
  }
  const std::string& name(int node) const { return nodes_[static_cast<std::size_t>(node)].name; }

  Conversation& conversation_;
  const std::vector<NodeInfo>& nodes_;
  const std::vector<plan::PlannedStep>& steps_;
  RecordSink& sink_;
  Progress& progress_;
  std::function<double()> now_s_;
  std::map<int, int> node_of_rank_;
  std::vector<bool> gone_;  // by node
  std::vector<int> lost_ranks_;
  std::map<std::pair<int, plan::Party>, Timeouts> timeouts_;              // by step and party
  std::map<std::pair<int, std::string>, std::vector<double>> history_s_;  // by step and phase
  std::vector<Values> slot_values_;                                       // of the slot under way
  std::map<std::string, plan::Ramp> ramps_;  // by the step of the scenario
  std::set<int> left_out_levels_;            // steps
  std::vector<int> next_;                    // ranks that own the slot after the one under way
  std::optional<int> current_slot_;
  std::string current_step_ = "start";
  double preparation_s_ = 0;
  double measurement_s_ = 0;
  bool may_finalize_ = true;
};

}  // namespace fleetbench::fleet
