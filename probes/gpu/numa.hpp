// Which memory of the host is near a GPU.
#pragma once

#include <optional>

#include "probes/gpu/gpu.hpp"
#include "probes/support/host_files.hpp"
#include "probes/support/machine_topology.hpp"

namespace fleetbench::gpu {

struct NumaSides {
  std::optional<int> near;  // none: the machine does not say
  std::optional<int> far;   // none: there is one NUMA node only, or near is not known
};

// From the PCI tree. NUMA nodes without cores that this process may use do not count.
NumaSides numa_sides(const GpuInfo& info, const MachineTopology& topology, const HostFiles& files);

}  // namespace fleetbench::gpu
