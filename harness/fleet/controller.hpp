// The root: has every slot of a run measured, whoever drops out, and records what comes back.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/fleet/attendance.hpp"
#include "harness/fleet/conversation.hpp"
#include "harness/fleet/observers.hpp"
#include "harness/fleet/ramp_guard.hpp"
#include "harness/fleet/slot_course.hpp"
#include "harness/fleet/slot_samples.hpp"
#include "harness/fleet/slot_state.hpp"
#include "harness/fleet/time_limits.hpp"
#include "harness/plan/slots.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::fleet {

class Controller {
 public:
  // `seconds_since_start` is the clock of the run.
  Controller(Conversation& conversation, const std::vector<NodeInfo>& nodes, const FleetGpus& gpus,
             const std::vector<plan::PlannedStep>& steps, RecordSink& sink, Progress& progress,
             std::function<double()> seconds_since_start);

  // Runs the slots in order within the limits; which passes of which step that left out is
  // recorded. A group that loses a member is measured again without it at once. May be called again
  // with slots of other numbers. What `turn` of the conversation throws passes through; everything
  // measured before is recorded.
  void run(const std::vector<plan::Slot>& slots, const TimeLimits& limits);

  // Ends the agents, which may take until `end_s` on the clock of the run, and returns what waiting
  // cost them. Afterwards may_finalize() is known.
  WaitingCost finish(double end_s);

  // A rank that never reported; its node is left out from the start.
  void lose(int rank, const std::string& phase, const std::string& reason) {
    course_.lose(rank, phase, reason);
  }

  // A node that never came up.
  void miss(int node, const std::string& reason) { attendance_.miss(node, reason); }
  bool is_lost(int rank) const { return attendance_.is_lost(rank); }
  // The run was broken off: who of its ranks does not answer within so many seconds is lost, unless
  // that is most of them, which tells nothing.
  void call_roll(double within_s);

  // Wall time of what was prepared and measured so far: of the slowest owner of each slot.
  double preparation_s() const { return course_.preparation_s(); }
  double measurement_s() const { return course_.measurement_s(); }
  // False where a rank is lost or a measurement was abandoned inside MPI.
  bool may_finalize() const { return may_finalize_ && !attendance_.has_lost(); }

 private:
  // With all that is measured again; false where the run's time ended it.
  bool measure(const plan::Slot& slot, const std::vector<int>& next, double end_s);
  plan::Slot remaining(const plan::Slot& slot);
  bool fits(const plan::Slot& slot, const TimeLimits& limits) const;
  void note_skipped(const std::vector<plan::Slot>& skipped);
  std::vector<int> owners_of(const plan::Slot& slot) const;
  // The same for the parties that lost a member in it, and for what is left of teams that failed;
  // owned by nobody where there is nothing to measure.
  SlotState without_the_lost(const SlotState& state);
  void lose_the_root_that_stood_still(double pause_s);
  const plan::PlannedStep& step_of(const plan::Slot& slot) const {
    return steps_[static_cast<std::size_t>(slot.step)];
  }

  Conversation& conversation_;
  const std::vector<plan::PlannedStep>& steps_;
  Progress& progress_;
  std::function<double()> now_s_;
  Attendance attendance_;
  SlotSamples samples_;
  SlotCourse course_;
  RampGuard ramps_;
  int again_ = kAgainFirst;
  bool may_finalize_ = true;
};

}  // namespace fleetbench::fleet
