// What the network interfaces and InfiniBand or RoCE ports of a machine have counted, and how their
// links stand.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "probes/support/driver_counters.hpp"
#include "probes/support/host_files.hpp"

namespace fleetbench {

// By kind, then by the counter's own name. A kind is there, though perhaps without counters, where
// this port counts it at all:
//   nic_errors, nic_drops     as Linux counts them for every interface
//   nic_port_errors, nic_port_drops, pause_received, pause_sent     see driver_counters.hpp
//   link_losses               times that the link of an interface went down
//   ib_errors, ib_discards    of an InfiniBand or RoCE port
//   rdma_errors               packets lost, out of order, damaged or sent again
//   port_xmit_wait            ticks in which a port had something to send and might not
//   congestion_marked         packets that a switch marked, and notices sent about them
//   congestion_slowed         such notices that slowed what this port sends
//   packets_sent, packets_received, words_sent (of four bytes), bytes     what it carried
using PortCounters = std::map<std::string, std::map<std::string, std::int64_t>>;

struct NetworkPort {
  bool hardware = true;        // false: a bridge, a bond, one end of a veth pair
  std::optional<double> gbit;  // of its link; 0 where there is none though the port is in use
  std::optional<double> lanes;
  PortCounters counters;
};

// By name: "eth0", "mlx5_0:1".
using NetworkPorts = std::map<std::string, NetworkPort>;

// All but loopback. Files that are missing, unreadable or hold no count are left out, and so is
// what does not fit 63 bits.
NetworkPorts read_network_ports(const HostFiles& files, const DriverCounterReader& of_driver);

}  // namespace fleetbench
