#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "harness/plan/slots.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::plan {
namespace {

bool runs_alone(const ScenarioStep& step, const ProbeInfo& probe, ScheduleOverride schedule,
                bool ranks_are_nodes) {
  if (loads_what_is_shared(step)) {
    return true;  // a ramp does not come here
  }
  if (schedule != ScheduleOverride::none) {
    return schedule == ScheduleOverride::alone;
  }
  return step.schedule == Schedule::alone ||
         (ranks_are_nodes && probe.participants == Participants::node);
}

// GPUs that meet within a node make no group of nodes.
ProbeInfo info_for(const ScenarioStep& step, ProbeInfo probe) {
  if (probe.joins_workers && step.across == Across::node) {
    probe.participants = Participants::node;
  }
  return probe;
}

// Steps that run once, before the passes, need no schedule of their own.
PlannedStep planned(const ScenarioStep& step, const ProbeChoice& choice, int passes, bool alone) {
  PlannedStep result{.scenario = step, .probe = info_for(step, choice.info), .id = step.id};
  if (choice.info.joins_workers) {
    const bool pairs = choice.info.participants == Participants::pair;
    result.across = step.across.value_or(pairs ? Across::rails : Across::nodes);
  }
  result.runner = choice.runner;
  result.concurrent = !alone;
  result.passes = choice.info.facts_only ? 1 : std::min(passes, step.passes.value_or(passes));
  return result;
}

// Of steps on single devices: those, beside or instead of the ones on all devices.
std::vector<PlannedStep> with_single_devices(std::vector<PlannedStep> steps) {
  std::vector<PlannedStep> all;
  for (auto& step : steps) {
    const Devices devices = step.scenario.devices;
    if (devices == Devices::both) {
      all.push_back(step);
      step.id += "@one";
    }
    step.one_device = devices != Devices::all;
    all.push_back(std::move(step));
  }
  return all;
}

}  // namespace

std::string_view to_string(Runner runner) {
  switch (runner) {
    case Runner::worker:
      return "worker";
    case Runner::gpu_workers:
      return "gpu_workers";
    case Runner::rank:
      return "rank";
  }
  throw std::logic_error("a runner without a name");
}

Runner parse_runner(std::string_view text) {
  for (const Runner runner : {Runner::worker, Runner::gpu_workers, Runner::rank}) {
    if (text == to_string(runner)) {
      return runner;
    }
  }
  throw InputError(fmt::format("\"{}\" is no way to run a step", text));
}

bool is_of_rails(const PlannedStep& step) {
  return step.probe.joins_workers && step.across == Across::rails;
}

std::vector<PlannedStep> plan_steps(const Scenario& scenario,
                                    const std::vector<ProbeChoice>& probe_of,
                                    ScheduleOverride schedule, bool ranks_are_nodes) {
  std::vector<PlannedStep> steps;
  for (std::size_t i = 0; i < scenario.steps.size(); ++i) {
    const auto& step = scenario.steps[i];
    const auto& choice = probe_of[i];
    const auto probe = info_for(step, choice.info);
    const bool fleet_wide = probe.participants == Participants::group && !step.groups;
    if (probe.facts_only || fleet_wide) {
      steps.push_back(planned(step, choice, scenario.passes, false));
      continue;
    }
    if (step.schedule == Schedule::ramp && schedule != ScheduleOverride::alone) {
      steps.push_back(planned(step, choice, scenario.passes, false));
      steps.back().ramp = RampLevel{step.id, 0};
      continue;
    }
    const bool alone = runs_alone(step, probe, schedule, ranks_are_nodes);
    const bool both =
        step.schedule == Schedule::both && schedule == ScheduleOverride::none && !alone;
    steps.push_back(planned(step, choice, scenario.passes, alone));
    steps.back().sampled = alone && step.schedule == Schedule::alone &&
                           schedule == ScheduleOverride::none && !ranks_are_nodes;
    if (both) {
      steps.push_back(planned(step, choice, scenario.passes, true));
      steps.back().id += "@alone";
      steps.back().sampled = true;
    }
  }
  return with_single_devices(std::move(steps));
}

}  // namespace fleetbench::plan
