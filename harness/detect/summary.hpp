// What each metric looked like over the fleet, and what fault it could have shown.
#pragma once

#include <map>
#include <vector>

#include "harness/detect/detect.hpp"
#include "harness/detect/judge.hpp"

namespace fleetbench::detect {

// One entry a table that has values: measured metrics, and what pairs tell of nodes.
std::vector<MetricSummary> summarise(const std::vector<Judged>& tables,
                                     const DetectOptions& options);

// One entry a metric that explains others and is not judged: what it looked like, and no more.
std::vector<MetricSummary> summarise_unjudged(const RunData& run);

// Nodes that no other, or one, is like: measured, and compared with nobody.
std::vector<NotMeasured> without_peers(const std::vector<Judged>& tables, const Names& names);

// Metrics that were measured on too few subjects to compare them, in a fleet that has more.
std::vector<NotMeasured> too_few_to_compare(const std::vector<Judged>& tables, std::size_t nodes);

}  // namespace fleetbench::detect
