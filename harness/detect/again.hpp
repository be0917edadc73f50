// Which finding belongs to which record of a confirmation.
#pragma once

#include <optional>

#include "harness/detect/figure.hpp"
#include "results-schema/report.hpp"

namespace fleetbench::detect {

// Where a finding was measured again, or was to be. Points into the run.
struct Again {
  const ConfirmRecord* record = nullptr;
  const Comparison* compared = nullptr;
  double first_pct = 0;  // the slowdown in that metric, as it was estimated from the passes
};

std::optional<Again> find_again(const RunData& run, const Finding& finding, const Target& suspect);

// Where it was measured by itself after that, or was to be.
std::optional<Again> find_solo(const RunData& run, const Finding& finding, const Target& suspect);

// The metric on which the finding's slowdown rests; none where it has none.
const MetricEvidence* deciding_metric(const Finding& finding);

}  // namespace fleetbench::detect
