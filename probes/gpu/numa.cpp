#include "probes/gpu/numa.hpp"

#include <algorithm>
#include <cstdlib>

namespace fleetbench::gpu {

NumaSides numa_sides(const GpuInfo& info, const MachineTopology& topology, const HostFiles& files) {
  const auto told = files.read_integer("/sys/bus/pci/devices/" + info.pci_address + "/numa_node");
  const auto& nodes = topology.numa_nodes();
  const auto near = std::ranges::find_if(
      nodes, [&](const NumaNode& node) { return told && node.index == *told; });
  if (near == nodes.end()) {
    return {};  // -1 on machines with one node
  }
  NumaSides sides{.near = near->index, .far = std::nullopt};
  // The one farthest by number is on another CPU, whatever parts the BIOS cuts a CPU into.
  for (const NumaNode& node : nodes) {
    if (node.index != *sides.near &&
        (!sides.far || std::abs(node.index - *sides.near) > std::abs(*sides.far - *sides.near))) {
      sides.far = node.index;
    }
  }
  return sides;
}

}  // namespace fleetbench::gpu
