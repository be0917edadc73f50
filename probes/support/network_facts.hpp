// What Linux says about the network devices of a node.
#pragma once

#include "probes/support/fact.hpp"
#include "probes/support/host_files.hpp"

namespace fleetbench {

inline constexpr std::size_t kMaxNics = 256;

// Every interface but `lo`, those with hardware first: name, virtual (no hardware behind it: bond,
// bridge, veth), speed_mbit, duplex, mtu, operstate, mac, driver, pci_address, numa_node.
FactList nic_facts(const HostFiles& files);

// Every port of every InfiniBand or RoCE device: device, port, state, phys_state, rate, rate_gbit,
// link_layer, firmware, board, pci_address, numa_node.
Json infiniband_facts(const HostFiles& files);

}  // namespace fleetbench
