// Which finding is the cause of which, and which to look at first.
#pragma once

#include <vector>

#include "results-schema/report.hpp"

namespace fleetbench::detect {

// Whether slowness of `cause` makes `effect` slow too: host → storage, input, copy, network (over
// TCP); storage → input; copy, compute, network, input → step; fabric → network; and what follows.
bool is_upstream(Layer cause, Layer effect);

// Gives each finding its rank (from 1) and explained_by, and orders them: what nothing explains
// first (wrong, missing, then slow by the lower end of the interval), then what is explained, what
// was not reproduced, and what is too fast. What was not reproduced is no cause.
//
// A generous rule for causes: a finding is explained by one upstream on the same node, or on one of
// its devices, or of the fleet for one of the fleet, unless its worst metric is slow by more than
// twice as much, on the log scale: half a CPU can cost a TCP link more than half its rate, but not
// ten times. Where something of the layer that a slow host does not slow was measured and is well,
// a slow host explains the rest whatever its size. A link is explained by a slow end only up to
// that end's own slowdown.
std::vector<Finding> rank(std::vector<Finding> findings);

}  // namespace fleetbench::detect
