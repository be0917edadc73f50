// The collectives that NCCL is measured with, one entry each.
#pragma once

#include <string>
#include <vector>

#include "probes/gpu/nccl/communicator.hpp"
#include "probes/support/collective_shape.hpp"

namespace fleetbench::gpu::nccl {

struct GpuCollective : CollectiveShape {
  std::string nccl_call;  // "ncclAllReduce"
  // Enqueues it on the stream, float and sum, for the `count` of the rule. What has no call of its
  // own in NCCL is a group of sends and receives, as in nccl-tests. Throws what
  // Communicator::check throws.
  void (*enqueue)(Communicator& communicator, const float* send, float* receive, std::size_t count,
                  cudaStream_t stream) = nullptr;
};

// One for each of collective_shapes(), in that order.
const std::vector<GpuCollective>& gpu_collectives();
// Precondition: it is one of them.
const GpuCollective& gpu_collective(std::string_view name);

}  // namespace fleetbench::gpu::nccl
