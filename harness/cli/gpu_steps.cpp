#include "harness/cli/gpu_steps.hpp"

#include <algorithm>

namespace fleetbench::cli {
namespace {

constexpr const char* kNoGpus = "no node has a GPU";

bool is_left_out(const plan::PlannedStep& step, const GpuCensus& census, const RunData* before) {
  if (before == nullptr) {
    return !census.any;
  }
  const auto is_of_step = [&step](const OmissionRecord& omission) {
    return omission.step == step.id && omission.reason == kNoGpus;
  };
  const bool is_recorded =
      std::ranges::find(before->steps, step.id, &StepRecord::id) != before->steps.end();
  return std::ranges::any_of(before->omissions, is_of_step) || (!is_recorded && !census.any);
}

}  // namespace

bool is_on_gpus(const plan::PlannedStep& step) { return step.runner == plan::Runner::gpu_workers; }

void leave_out_gpu_steps(Suite& suite, const GpuCensus& census, const RunData* before) {
  std::erase_if(suite.steps, [&](const plan::PlannedStep& step) {
    const bool left_out = is_on_gpus(step) && is_left_out(step, census, before);
    if (left_out) {
      suite.left_out.push_back({step.id, std::nullopt, kNoGpus});
    }
    return left_out;
  });
}

}  // namespace fleetbench::cli
