// What was read beside a figure becomes evidence of a finding.
#pragma once

#include <vector>

#include "harness/detect/detect.hpp"
#include "harness/detect/table.hpp"

namespace fleetbench::detect {

// At most so many readings are told at one finding, those that tell most first.
inline constexpr std::size_t kMostReadings = 6;

// Lays what was read on a finding's device, node or ends, in the steps and passes that the finding
// is about, beside what the others of its cohort read there, and adds to the finding what stands
// out, as evidence of source "telemetry"; and what could not be read of it, but of most others.
// Of a cohort of over 256 nodes as many stand for all. What is a cause in the finding's layer
// becomes its `cause`. Looks at samples only where there are findings.
void add_readings(const RunData& run, const Names& names, const DetectOptions& options,
                  std::vector<Finding>& findings);

}  // namespace fleetbench::detect
