// What NCCL told of itself while ranks measured, brought together over the communicator.
#pragma once

#include "probes/gpu/nccl/debug_log.hpp"
#include "probes/gpu/nccl/nccl_facts.hpp"
#include "probes/gpu/nccl/session.hpp"

namespace fleetbench::gpu::nccl {

// Called by all ranks together. Adds "facts" to the detail, which are alike on nodes that are set
// up alike: nccl_version, nccl_network, nccl_transports, nccl_collective_channels,
// nccl_nvls_channels, nccl_p2p_channels and, where all ranks are on one node, nccl_all_reduce and
// so on (which algorithm and protocol up to which size). Rank 0 of several nodes tells the latter
// as "algorithms". What the log could not tell stands in "not_measured".
void add_told_facts(Session& session, DebugLog& log, const MeasuredCalls& measured, Json& detail);

}  // namespace fleetbench::gpu::nccl
