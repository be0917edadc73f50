#include "probes/gpu/registry.hpp"

#include "probes/gpu/nccl/communicator.hpp"
#include "probes/gpu/nccl/nccl_probes.hpp"

namespace fleetbench::gpu {

std::vector<std::unique_ptr<Probe>> nccl_probes(const AssignedGpu& assigned) {
  static nccl::DebugLog log;
  std::vector<std::unique_ptr<Probe>> probes;
  probes.push_back(nccl::make_nccl_collectives(assigned, log));
  probes.push_back(nccl::make_nccl_pairs(assigned, log));
  return probes;
}

bool is_nccl_stuck() { return nccl::Communicator::is_stuck(); }

}  // namespace fleetbench::gpu
