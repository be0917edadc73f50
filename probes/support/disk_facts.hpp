// What Linux says about the disks of a node.
#pragma once

#include "probes/support/fact.hpp"
#include "probes/support/host_files.hpp"

namespace fleetbench {

inline constexpr std::size_t kMaxDisks = 512;

// Every block device but loop, ram and zram: name, model, firmware, serial, size_bytes, rotational,
// scheduler, read_ahead_bytes, pci_address.
FactList disk_facts(const HostFiles& files);

}  // namespace fleetbench
