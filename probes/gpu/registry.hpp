// The probes of fleetbench-gpu-worker. Each measures the one device that its worker was started
// for.
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

// Facts about all GPUs that this process sees.
std::unique_ptr<Probe> make_gpu_inventory();

// All of them, in the order of `fleetbench list probes`.
std::vector<std::unique_ptr<Probe>> gpu_probes(const AssignedGpu& assigned);

}  // namespace fleetbench::gpu
