// Whether a node is slow as a whole, or some of its devices or rails by themselves.
#pragma once

#include "harness/detect/hits.hpp"

namespace fleetbench::detect {

// Nodes of whose devices too few are slow are no subjects; where most are, the devices are none,
// unless one is slower than its node beyond doubt. Takes those that are none out of `hits`.
void attribute_to_devices(const Evaluated& evaluated, Hits& hits);

}  // namespace fleetbench::detect
