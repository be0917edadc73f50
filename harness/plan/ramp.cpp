#include "harness/plan/ramp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "harness/plan/upper_median.hpp"

namespace fleetbench::plan {
namespace {

std::vector<double> values_of(const std::vector<Values>& samples, std::size_t metric) {
  std::vector<double> values;
  for (const Values& sample : samples) {
    if (metric < sample.size() && sample[metric] && *sample[metric] > 0) {
      values.push_back(*sample[metric]);
    }
  }
  return values;
}

}  // namespace

std::vector<int> ramp_levels(int nodes) {
  std::vector<int> levels;
  for (int level = 1; level < nodes; level *= 2) {
    levels.push_back(level);
  }
  levels.push_back(nodes);
  return levels;
}

std::vector<PlannedStep> expand_ramps(std::vector<PlannedStep> steps, int nodes) {
  std::vector<PlannedStep> result;
  for (PlannedStep& step : steps) {
    if (!step.ramp) {
      result.push_back(std::move(step));
      continue;
    }
    for (const int level : ramp_levels(nodes)) {
      PlannedStep at_level = step;
      at_level.ramp = RampLevel{step.id, level};
      if (level < nodes) {
        at_level.id += fmt::format("@{}", level);
      }
      result.push_back(std::move(at_level));
    }
  }
  return result;
}

OverBudget within_budget(const std::vector<PlannedStep>& steps, std::vector<Slot> slots) {
  OverBudget result;
  std::map<std::string, double> spent;  // by ramp
  std::map<int, int> lost;              // slots of a step
  for (Slot& slot : slots) {
    const PlannedStep& step = steps[static_cast<std::size_t>(slot.step)];
    if (step.ramp || loads_what_is_shared(step.scenario)) {
      const double cost =
          step.work.value("operations", 0.0) * static_cast<double>(slot.parties.size());
      double& so_far = spent[step.scenario.id];
      if (so_far + cost > step.scenario.operations) {
        ++lost[slot.step];
        continue;
      }
      so_far += cost;
    }
    slot.index = static_cast<int>(result.slots.size());
    result.slots.push_back(std::move(slot));
  }
  for (const auto& [index, count] : lost) {
    const PlannedStep& step = steps[static_cast<std::size_t>(index)];
    result.omitted.push_back(
        {step.id, std::nullopt,
         fmt::format("{} of {} passes are beyond the budget of {:.0f} operations on what all nodes "
                     "share: allow more by \"operations\" in the scenario",
                     count, step.passes, step.scenario.operations)});
  }
  return result;
}

void Ramp::add(int level, const std::vector<Values>& samples) {
  const auto with_values = std::count_if(samples.begin(), samples.end(),
                                         [](const Values& values) { return !values.empty(); });
  if (level > 1 && 2 * with_values <= static_cast<std::ptrdiff_t>(samples.size())) {
    stop(level,
         fmt::format("with {} nodes at once {} of {} gave no value", level,
                     samples.size() - static_cast<std::size_t>(with_values), samples.size()));
    return;
  }
  if (with_values > 0 && reference_ == 0) {
    reference_ = level;
  }
  for (std::size_t m = 0; m < metrics_->size(); ++m) {
    compare(level, m, values_of(samples, m));
  }
  if (stopped_.empty()) {
    highest_ = std::max(highest_, level);
  }
}

void Ramp::stop(int level, const std::string& reason) {
  stopped_ = reason;
  highest_ = std::min(highest_, level - 1);
}

void Ramp::compare(int level, std::size_t metric, const std::vector<double>& values) {
  const MetricInfo& info = (*metrics_)[metric];
  if (!info.judged || values.empty()) {
    return;
  }
  auto& before = reference_values_[metric];
  if (level == reference_) {
    before.insert(before.end(), values.begin(), values.end());
    return;
  }
  if (before.empty()) {
    return;
  }
  const double ratio = upper_median(values) / upper_median(before);
  const double times = info.better == Better::lower ? ratio : 1 / ratio;
  if (times >= kRampStop) {
    stop(level, fmt::format("with {} nodes at once {} took {:.1f} times as long as with {}", level,
                            info.name, times, reference_));
  }
}

}  // namespace fleetbench::plan
