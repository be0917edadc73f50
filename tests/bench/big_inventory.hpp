// Inventories of a fleet of GPU nodes, of the size and the form that the probe takes.
#pragma once

#include "results-schema/metric.hpp"

namespace fleetbench::bench {

// Of a node of a large fleet: serials, addresses and what is free differ everywhere; one in fifty
// nodes has another BIOS, one in a thousand a NIC at another MTU, a governor, a PCIe link at half
// its width, or a little less memory.
Json big_inventory(int node);

}  // namespace fleetbench::bench
