#include "harness/detect/again.hpp"

#include <algorithm>
#include <cmath>

namespace fleetbench::detect {
namespace {

bool is_about(const Comparison& compared, const Target& target) {
  return std::minmax(compared.node, compared.peer.value_or(-1)) ==
             std::minmax(target.node, target.peer.value_or(-1)) &&
         compared.device == target.device;
}

std::optional<Again> find(const RunData& run, const Finding& finding, const Target& suspect,
                          bool solo) {
  for (const ConfirmRecord& record : run.confirmations) {
    if (record.solo != solo) {
      continue;
    }
    for (const Comparison& compared : record.compared) {
      const auto metric =
          std::ranges::find(finding.metrics, compared.metric, &MetricEvidence::metric);
      if (metric != finding.metrics.end() && is_about(compared, suspect)) {
        return Again{&record, &compared, metric->slowdown_pct};
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Again> find_again(const RunData& run, const Finding& finding, const Target& suspect) {
  return find(run, finding, suspect, false);
}

std::optional<Again> find_solo(const RunData& run, const Finding& finding, const Target& suspect) {
  return find(run, finding, suspect, true);
}

const MetricEvidence* deciding_metric(const Finding& finding) {
  const auto nearest =
      std::ranges::min_element(finding.metrics, {}, [&finding](const MetricEvidence& metric) {
        return std::abs(metric.slowdown_pct - finding.slowdown_pct);
      });
  return nearest == finding.metrics.end() ? nullptr : &*nearest;
}

}  // namespace fleetbench::detect
