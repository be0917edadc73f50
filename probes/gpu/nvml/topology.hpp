// How the GPUs of a node are joined, as `nvidia-smi topo -m` tells it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "probes/gpu/nvml/nvml_library.hpp"

namespace fleetbench::gpu::nvml {

// A GPU and those of its NVLinks that are up.
struct LinkedGpu {
  unsigned index = 0;                 // as NVML counts, who is lost included
  std::string address;                // "0000:3b:00.0"
  std::map<std::string, int> to_gpu;  // by address
  int to_switches = 0;
};

// "NV18": so many NVLinks, those by way of switches included, each of which is taken to reach all
// GPUs; else what they have in common by PCIe: "PIX" one switch, "PXB" several, "PHB" the host
// bridge, "NODE" the NUMA node, "SYS" only the system; "?" where NVML does not say.
std::string path_between(const LinkedGpu& a, const LinkedGpu& b, std::optional<int> ancestor);

struct Topology {
  std::vector<LinkedGpu> gpus;
  std::vector<std::vector<std::string>> paths;  // [i][j]; "X" where they are the same
};

// One text that is the same on nodes that are joined in the same way: "NV18";
// "NV17 gpu0-gpu3 gpu1-gpu3, else NV18", the rarest first, with NVML's numbers. Empty for one GPU.
std::string text_of(const Topology& topology);

// "0000:43:00.0 NV18, 0000:52:00.0 NV18": the row of this GPU. Empty where it is not there.
std::string row_of(const Topology& topology, const std::string& address);

// Of all GPUs that NVML gives, whatever CUDA_VISIBLE_DEVICES says.
Topology topology_of(const Library& library);

}  // namespace fleetbench::gpu::nvml
