#include "harness/cli/step_work.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

#include "harness/cli/gpu_steps.hpp"

namespace fleetbench::cli {
namespace {

constexpr const char* kNoWork = "not measured, for how much work to do could not be found";
// Nodes whose GPUs are tried: one that is sick does not keep the others from being measured.
constexpr std::size_t kMostTried = 3;

// Why the step had no work before the run broke off; empty where it had.
std::string reason_without_work(const RunData& before, const std::string& step) {
  for (const auto& omission : before.omissions) {
    if (omission.step == step && omission.reason.starts_with(kNoWork)) {
      return omission.reason;
    }
  }
  return "";
}

}  // namespace

std::string StepWork::find(plan::PlannedStep& step, double limit_s) {
  if (step.probe.facts_only) {
    return "";
  }
  try {
    const auto found = found_.find(step.scenario.id);
    step.work = found != found_.end() ? found->second : tried(step, limit_s);
    found_[step.scenario.id] = step.work;
    return "";
  } catch (const fleet::Interrupted&) {
    throw;
  } catch (const std::runtime_error& error) {
    step.passes = 0;
    return fmt::format("{} {}: {}", kNoWork,
                       is_on_gpus(step) ? "on the GPUs that were tried" : "on the first node",
                       error.what());
  }
}

std::string StepWork::take_over(plan::PlannedStep& step, const StepRecord& recorded,
                                const RunData& before) {
  step.work = recorded.work;
  auto reason = reason_without_work(before, step.id);
  if (reason.empty()) {
    found_[step.scenario.id] = step.work;
  } else {
    step.passes = 0;
  }
  return reason;
}

Json StepWork::tried(const plan::PlannedStep& step, double limit_s) {
  return is_on_gpus(step) ? tried_on_gpus(step, limit_s)
                          : catalog_.calibrate({step.probe, step.runner}, step.scenario.params,
                                               limit_s, [this] { job_.attend(); });
}

// Those that failed before come last.
std::vector<std::size_t> StepWork::nodes_to_try() const {
  std::vector<std::size_t> nodes;
  for (const bool has_failed : {false, true}) {
    for (std::size_t node = 0; node < nodes_.size() && nodes.size() < kMostTried; ++node) {
      if (!census_.gpus[node].empty() && failed_.contains(node) == has_failed) {
        nodes.push_back(node);
      }
    }
  }
  return nodes;
}

Json StepWork::tried_on_gpus(const plan::PlannedStep& step, double limit_s) {
  std::vector<std::string> reasons;
  for (const std::size_t node : nodes_to_try()) {
    const auto& gpus = census_.gpus[node];
    try {
      return job_.calibrate(step, gpus.front(), limit_s);
    } catch (const fleet::Interrupted&) {
      throw;
    } catch (const std::runtime_error& error) {
      failed_.insert(node);
      reasons.push_back(
          fmt::format("{} {}: {}", nodes_[node].name, gpus.front().label, error.what()));
      progress_.note(fmt::format("{}: {}", step.id, reasons.back()));
    }
  }
  throw std::runtime_error(reasons.empty() ? "CUDA shows no GPU on any node"
                                           : fmt::format("{}", fmt::join(reasons, "; ")));
}

}  // namespace fleetbench::cli
