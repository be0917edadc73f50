#include "results-schema/together.hpp"

#include <algorithm>

namespace fleetbench {

Together together_of(const StepRecord& step, const SampleRecord& sample) {
  const bool each_by_itself = std::ranges::any_of(
      step.metrics, [](const MetricInfo& metric) { return metric.subject == SubjectKind::node; });
  const bool is_rail =
      !sample.ends.empty() &&
      std::ranges::all_of(sample.ends, [&](const End& end) { return end.device == sample.device; });
  return {sample.group, each_by_itself ? sample.node : -1, is_rail ? sample.device : ""};
}

}  // namespace fleetbench
