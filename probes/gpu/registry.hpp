// The probes of fleetbench-gpu-worker. Each measures the one device that its worker was started
// for, unless something else is said.
#pragma once

#include <memory>
#include <vector>

#include "probes/gpu/assigned_gpu.hpp"
#include "probes/probe.hpp"

namespace fleetbench::gpu {

// `assigned` must outlive them.
std::unique_ptr<Probe> make_gpu_copy(const AssignedGpu& assigned);
std::unique_ptr<Probe> make_gpu_gemm(const AssignedGpu& assigned);
std::unique_ptr<Probe> make_gpu_memory(const AssignedGpu& assigned);

// Of all GPUs of the node at once, those that `work` names (see gpus_of_node.hpp). The measurement
// has no values; its detail's "devices" are [{"uuid", "status", "reason", "values", "detail"}…],
// for each GPU the outcome that a worker of its own would have given.
std::unique_ptr<Probe> make_gpu_peer_copy();

// Facts about all GPUs that this process sees.
std::unique_ptr<Probe> make_gpu_inventory();

// Of GPUs with each other, see nccl/nccl_probes.hpp; none where fleetbench was built without
// nccl.h. Called before the process has threads, since it sets what NCCL reads of the environment.
std::vector<std::unique_ptr<Probe>> nccl_probes(const AssignedGpu& assigned);
// Whether they left something behind that keeps this process from measuring again.
bool is_nccl_stuck();

// All of them, in the order of `fleetbench list probes`.
std::vector<std::unique_ptr<Probe>> gpu_probes(const AssignedGpu& assigned);

}  // namespace fleetbench::gpu
