// Ports of InfiniBand and RoCE devices as network_ports.hpp has them.
#pragma once

#include "probes/support/network_ports.hpp"

namespace fleetbench {

// By device and number: "mlx5_0:1". A port that is not active has a link of 0 Gbit/s, one whose
// rate cannot be read has none.
NetworkPorts read_infiniband_ports(const HostFiles& files);

}  // namespace fleetbench
