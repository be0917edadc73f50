#include "results-schema/together.hpp"

#include <algorithm>

namespace fleetbench {

Together together_of(const StepRecord& step, const SampleRecord& sample) {
  const bool each_by_itself = std::ranges::any_of(
      step.metrics, [](const MetricInfo& metric) { return metric.subject == SubjectKind::node; });
  return {sample.group, each_by_itself ? sample.node : -1,
          sample.ends.empty() ? "" : sample.device};
}

}  // namespace fleetbench
