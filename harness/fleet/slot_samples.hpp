// Turns the answers of a slot's owners into samples on record.
#pragma once

#include <string>
#include <vector>

#include "harness/fleet/attendance.hpp"
#include "harness/fleet/observers.hpp"
#include "harness/fleet/slot_state.hpp"
#include "harness/fleet/timeouts.hpp"

namespace fleetbench::fleet {

// Of an owner of GPUs one sample for each. Who was late too often is left out from then on, which
// is recorded, too.
class SlotSamples {
 public:
  // All of them must outlive it.
  SlotSamples(std::size_t nodes, const std::vector<plan::PlannedStep>& steps,
              Attendance& attendance, RecordSink& sink)
      : nodes_(nodes), steps_(steps), attendance_(attendance), sink_(sink) {}

  void begin_slot() { values_.clear(); }
  // Of the samples of the slot under way.
  const std::vector<Values>& values_of_slot() const { return values_; }
  void sync() { sink_.sync(); }

  void add(const SlotState& state, const Owner& owner, const Json& answer);
  // Of an owner that is prepared: the GPUs of it that are not. It owns them no longer.
  void add_failed_devices(const SlotState& state, Owner& owner, const Json& answer);
  // Of one GPU that measured with others. Where it was too late: `is_to_blame` by itself, or its
  // team as a whole.
  void add_of_team(const SlotState& state, const Owner& owner, const Json& device,
                   bool is_to_blame);
  // `devices`: labels of its GPUs that were late; all of them where that is empty.
  void add_timeout(const SlotState& state, const Owner& owner, const std::string& reason,
                   const std::vector<std::string>& devices);

  bool left_out(int step, const plan::Party& party, const std::string& device = "") const {
    return timeouts_.left_out(step, party, device);
  }

 private:
  void add_one(const SlotState& state, const Owner& owner, const Json& answer);
  SampleRecord add_sample(const SlotState& state, const Owner& owner, const Json& answer);
  void count_timeout(const SlotState& state, const Owner& owner, const std::string& device);
  void count_own_timeout(const SlotState& state, const Owner& owner, const std::string& device);

  std::size_t nodes_;
  const std::vector<plan::PlannedStep>& steps_;
  Attendance& attendance_;
  RecordSink& sink_;
  Timeouts timeouts_;
  std::vector<Values> values_;
};

}  // namespace fleetbench::fleet
