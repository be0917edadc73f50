// Load on what all nodes share grows step by step, and stops before it does harm.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/plan/slots.hpp"

namespace fleetbench::plan {

// It stops where nodes take this many times as long as with the fewest nodes that gave values.
inline constexpr double kRampStop = 3;

// 1, 2, 4 … below `nodes`, and `nodes`.
std::vector<int> ramp_levels(int nodes);

// Makes of each step that its scenario ramps one step a level: "ID@1", "ID@2", …, and "ID" for all
// nodes at once. Each level measures as many nodes as it says, drawn anew in each pass.
std::vector<PlannedStep> expand_ramps(std::vector<PlannedStep> steps, int nodes);

struct OverBudget {
  std::vector<Slot> slots;              // those within the budget, in order, renumbered
  std::vector<OmissionRecord> omitted;  // one for each step that lost slots
};

// Leaves out slots of ramps, and of other steps on what all nodes share, from where their
// operations ("operations" in `work`, for one node and slot) would add up to more than the
// scenario's budget, in all levels and passes of that ramp.
OverBudget within_budget(const std::vector<PlannedStep>& steps, std::vector<Slot> slots);

// What the levels of one ramp have shown so far.
class Ramp {
 public:
  explicit Ramp(const std::vector<MetricInfo>& metrics) : metrics_(&metrics) {}

  // The samples of a slot with `level` nodes; those that failed or were late have no values. Half
  // of them or more without is a reason to stop.
  void add(int level, const std::vector<Values>& samples);
  // Nothing where the next level may follow; else why not.
  const std::string& stopped() const { return stopped_; }
  // The highest level that did no harm: those up to it may be measured again in later passes.
  int highest() const { return highest_; }

 private:
  void stop(int level, const std::string& reason);
  void compare(int level, std::size_t metric, const std::vector<double>& values);

  const std::vector<MetricInfo>* metrics_;
  int reference_ = 0;                                            // the first level that gave values
  std::map<std::size_t, std::vector<double>> reference_values_;  // by metric
  std::string stopped_;
  int highest_ = 0;
};

}  // namespace fleetbench::plan
