// The probes of NCCL. Each rank is one worker with one GPU; they join each other by NCCL's unique
// id.
#pragma once

#include <memory>

#include "probes/gpu/assigned_gpu.hpp"
#include "probes/gpu/nccl/debug_log.hpp"
#include "probes/probe.hpp"

namespace fleetbench::gpu::nccl {

// Both outlive them.
std::unique_ptr<Probe> make_nccl_collectives(const AssignedGpu& assigned, DebugLog& log);
std::unique_ptr<Probe> make_nccl_pairs(const AssignedGpu& assigned, DebugLog& log);

}  // namespace fleetbench::gpu::nccl
