// What was not measured, and whether enough was.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/detect/attempts.hpp"
#include "harness/detect/configuration.hpp"
#include "results-schema/report.hpp"

namespace fleetbench::detect {

// Skipped samples (one entry for each step and reason), omissions, nodes of which no sample came
// back although others gave one, and inventories that could not be taken. What differs in the
// software of those who skip is told with their reason.
std::vector<NotMeasured> list_not_measured(const RunData& run,
                                           const std::vector<StepAttempts>& attempts,
                                           const std::vector<Difference>& differences);

// Layers of which less than half was measured, counted in subjects of steps; and whether anything
// was measured at all. One sentence each.
std::vector<std::string> coverage_gaps(const RunData& run,
                                       const std::vector<StepAttempts>& attempts);

}  // namespace fleetbench::detect
