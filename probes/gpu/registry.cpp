#include "probes/gpu/registry.hpp"

#include "probes/gpu/with_telemetry.hpp"

namespace fleetbench::gpu {

// One line per probe.
std::vector<std::unique_ptr<Probe>> gpu_probes(const AssignedGpu& assigned) {
  std::vector<std::unique_ptr<Probe>> probes;
  probes.push_back(make_gpu_inventory());
  probes.push_back(with_telemetry(make_gpu_gemm(assigned), assigned));
  probes.push_back(with_telemetry(make_gpu_memory(assigned), assigned));
  probes.push_back(with_telemetry(make_gpu_copy(assigned), assigned));
  probes.push_back(make_gpu_peer_copy());
  for (auto& probe : nccl_probes(assigned)) {
    probes.push_back(std::move(probe));
  }
  return probes;
}

}  // namespace fleetbench::gpu
