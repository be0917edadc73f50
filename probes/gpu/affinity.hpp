// Which processors and memory of the host a GPU is near.
#pragma once

#include <span>
#include <string>

#include "probes/gpu/nvml/nvml_library.hpp"
#include "probes/support/fact.hpp"
#include "probes/support/host_files.hpp"

namespace fleetbench::gpu {

// "0-47,96-143" for the bits of a mask, as the kernel writes lists of CPUs; empty for none.
std::string list_text(std::span<const unsigned long> mask);

// {"numa_node": 0, "cpus": "0-47"}, from the PCI tree, else from NVML; keys are absent where
// neither says it. `address`: as in /sys/bus/pci/devices.
Json affinity_facts(const std::string& address, const HostFiles& files, const nvml::Calls& calls,
                    nvml::Device device);

}  // namespace fleetbench::gpu
