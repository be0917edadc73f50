// Whether what is slow in a sweep over sizes is each call or each byte.
#pragma once

#include <optional>
#include <vector>

#include "results-schema/report.hpp"

namespace fleetbench::detect {

// One size of a sweep; times in any unit that is the same for all points.
struct SizePoint {
  double bytes = 0;
  double own = 0;    // time of the subject, positive
  double peers = 0;  // that of its peers
};

// How much longer a call takes whatever its size, and how much longer each byte: 0.5 is half as
// long again.
struct SizeShares {
  double latency = 0;
  double bandwidth = 0;
};

// Fits time = latency + bytes / bandwidth to both, each time weighing by its relative error. None
// where the sizes do not show both: fewer than four, or no peers' time that is mostly latency at
// the smallest size and mostly transfer at the largest.
std::optional<SizeShares> shares_by_size(const std::vector<SizePoint>& sweep);

// Adds to each slow finding whose metrics are bandwidths of sizes ("all_reduce.busbw.8M",
// "busbw.33554432") what of it is latency and what bandwidth, where that can be told. A size that
// `metrics` has and the finding has not is as fast as among its peers.
void tell_slow_sizes(const std::vector<MetricSummary>& metrics, std::vector<Finding>& findings);

}  // namespace fleetbench::detect
