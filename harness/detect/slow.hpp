// Judged tables → findings about speed. Ranks and causes come later, see ranking.hpp.
#pragma once

#include <string>
#include <vector>

#include "harness/detect/detect.hpp"
#include "harness/detect/judge.hpp"

namespace fleetbench::detect {

// A slow subject passes three gates: the estimated slowdown reaches the layer's minimum effect
// (for a link also against all links, not only against what its ends lead one to expect), the
// adjusted p-value is at most the family error, and half of the slowdown remains without the
// subject's worst passes. All metrics of one layer that speak about one subject are one finding:
// its slowdown and interval are those of the metric with the largest lower end.
//
// Fewer than five nodes, or a single pass: `tentative`; else `suspect`.
std::vector<Finding> slow_findings(const std::vector<Judged>& tables, const DetectOptions& options);

// Nodes that are too fast by four times the minimum effect: `fast`, always `tentative`. Only from
// metrics of the node itself; a fast link says nothing about it.
std::vector<Finding> fast_findings(const std::vector<Judged>& tables, const DetectOptions& options);

// Subjects that would have been findings but for the last gate.
std::vector<std::string> disturbance_notes(const std::vector<Judged>& tables,
                                           const DetectOptions& options);

}  // namespace fleetbench::detect
