#include "harness/fleet/ramp_guard.hpp"

namespace fleetbench::fleet {

void RampGuard::add(const plan::PlannedStep& step, const std::vector<Values>& samples) {
  if (step.ramp) {
    ramps_.try_emplace(step.ramp->of, step.metrics).first->second.add(step.ramp->nodes, samples);
  }
}

bool RampGuard::is_over(const plan::PlannedStep& step, int index) {
  if (!step.ramp || !ramps_.contains(step.ramp->of)) {
    return false;
  }
  const auto& ramp = ramps_.at(step.ramp->of);
  if (ramp.stopped().empty() || step.ramp->nodes <= ramp.highest()) {
    return false;
  }
  if (left_out_.insert(index).second) {
    attendance_.omit(step.id, std::nullopt, "left out, to do no harm: " + ramp.stopped());
  }
  return true;
}

}  // namespace fleetbench::fleet
