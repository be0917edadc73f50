// The GPUs that one process is to measure together, and why it cannot.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/gpu/gpu.hpp"
#include "probes/support/fact.hpp"
#include "probes/support/host_files.hpp"

namespace fleetbench::gpu {

// Addresses of NVIDIA's GPUs: what is plugged in, whether CUDA shows it or not.
std::vector<std::string> nvidia_gpus_on_pci(const HostFiles& files);

// What a process knows of the GPUs of its node.
struct NodeGpus {
  std::size_t seen = 0;                // by CUDA, of those that are to be measured
  std::size_t wanted = 0;              // that are to be measured
  std::size_t on_pci = 0;              // in the PCI tree
  std::optional<std::string> visible;  // CUDA_VISIBLE_DEVICES
};

// Why the copies between them cannot be measured here, and what to do; nothing where they can: CUDA
// shows all that are wanted, and these are two at least.
std::optional<std::string> why_not_together(const NodeGpus& gpus);

// Those that `work` names ("gpus": [{"uuid"}…]), in its order; all that CUDA shows where it names
// none. Throws NotAvailable where they cannot be measured together.
std::vector<GpuInfo> gpus_of_node(const Json& work, const HostFiles& files);

}  // namespace fleetbench::gpu
