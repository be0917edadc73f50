// Keeps load on what nodes share from growing where it did harm.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/fleet/attendance.hpp"
#include "harness/plan/ramp.hpp"

namespace fleetbench::fleet {

// What the levels of all ramps of a run have shown so far. A step that no scenario ramps is never
// over.
class RampGuard {
 public:
  explicit RampGuard(Attendance& attendance) : attendance_(attendance) {}

  // What the samples of a slot of the step showed.
  void add(const plan::PlannedStep& step, const std::vector<Values>& samples);
  // Whether the step, with position `index`, is to be left out; that is recorded once.
  bool is_over(const plan::PlannedStep& step, int index);

 private:
  Attendance& attendance_;
  std::map<std::string, plan::Ramp> ramps_;  // by the step of the scenario
  std::set<int> left_out_;                   // steps
};

}  // namespace fleetbench::fleet
