// Findings → one word and its reasons.
#pragma once

#include <string>
#include <vector>

#include "harness/detect/detect.hpp"
#include "harness/detect/judge.hpp"

namespace fleetbench::detect {

// Sets verdict and verdict_reasons from the rest of the report, which must be complete. `gaps` are
// reasons why the run says too little that the report does not show. The
// weightiest reason decides: FAIL, then WARN, then INCONCLUSIVE, then PASS; of a run that broke off
// what would be WARN is INCONCLUSIVE. What was not reproduced is noted and counts only where error
// counters rose.
void decide(const RunData& run, Report& report, std::vector<std::string> gaps,
            const DetectOptions& options);

// Reasons that lie in the run as a whole: fewer than three nodes without a baseline that knows what
// was measured, no end or an interrupted one, damaged files.
std::vector<std::string> gaps_of_run(const RunData& run, bool has_baseline);

// Layers none of whose compared metrics could have shown options.blind_times the minimum effect,
// and those of which groups alone were measured.
std::vector<std::string> blind_layers(const std::vector<MetricSummary>& metrics,
                                      const DetectOptions& options);

}  // namespace fleetbench::detect
