// How one slot goes: its owners prepare and measure, and what becomes of those who do not.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/fleet/attendance.hpp"
#include "harness/fleet/conversation.hpp"
#include "harness/fleet/observers.hpp"
#include "harness/fleet/slot_orders.hpp"
#include "harness/fleet/slot_samples.hpp"
#include "harness/fleet/slot_state.hpp"
#include "harness/fleet/team_course.hpp"
#include "harness/plan/slots.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::fleet {

class SlotCourse {
 public:
  // All of them must outlive it. `now_s`: the clock of the run.
  SlotCourse(Conversation& conversation, const std::vector<NodeInfo>& nodes, const FleetGpus& gpus,
             const std::vector<plan::PlannedStep>& steps, Progress& progress,
             std::function<double()> now_s, Attendance& attendance, SlotSamples& samples);

  // Who measures the slot: without the devices that are not its turn, or were late too often.
  SlotState laid_out(const plan::Slot& slot) const;
  // The same of these teams of it.
  SlotState laid_out(const plan::Slot& slot, std::vector<plan::Team> teams) const;
  // Has it measured, and records what comes back. At `end_s` it is cut short. `next`: ranks that
  // own the slot after it. What `turn` of the conversation throws passes through.
  void run(SlotState& state, const std::vector<int>& next, double end_s);

  // What goes on now; who is lost, is so in it.
  void enter(const std::string& step) { moment_.step = step; }
  const std::string& phase() const { return moment_.phase; }
  void lose(int rank, const std::string& phase, const std::string& reason);

  // How long a slot of this step took so far, in the median.
  double expected_s(int step) const;
  // Wall time of what was prepared and measured so far: of the slowest owner of each slot.
  double preparation_s() const { return preparation_s_; }
  double measurement_s() const { return measurement_s_; }

 private:
  Answers ask(SlotState& state, const std::string& what, std::map<int, MakeMessage> messages,
              std::function<void(int, const Json&)> answered);
  void prepare(SlotState& state);
  void end_preparation_of_teams(SlotState& state, const Answers& answers);
  Json order_to_measure(const SlotState& state, const Owner& owner) const;
  void measure(SlotState& state);
  void settle(SlotState& state, const Answers& answers, const std::string& phase);
  void note_cut(const SlotState& state, const Answers& answers, const std::string& phase);
  bool hears_nobody();
  bool is_measured_again(const SlotState& state, const Owner& owner) const;
  std::vector<int> partners_of(const SlotState& state, int rank);
  void drop_broken_parties(SlotState& state);
  const plan::PlannedStep& step_of(const plan::Slot& slot) const {
    return steps_[static_cast<std::size_t>(slot.step)];
  }

  Conversation& conversation_;
  const std::vector<NodeInfo>& nodes_;
  const FleetGpus& gpus_;
  const std::vector<plan::PlannedStep>& steps_;
  Progress& progress_;
  std::function<double()> now_s_;
  Attendance& attendance_;
  SlotSamples& samples_;
  SlotOrders orders_;
  std::map<std::pair<int, std::string>, std::vector<double>> history_s_;  // by step and phase
  std::optional<TeamCourse> teams_;  // of the slot under way, where its workers join each other
  std::vector<int> next_;
  double end_s_ = 0;
  int turns_ = 0;  // slots that are prepared
  Moment moment_{.slot = std::nullopt, .step = "start", .phase = "start"};
  double preparation_s_ = 0;
  double measurement_s_ = 0;
};

}  // namespace fleetbench::fleet
