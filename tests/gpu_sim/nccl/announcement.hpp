// What NCCL's log says of a communicator: which version, which network, who is reached how.
#pragma once

#include "tests/gpu_sim/nccl/endpoint.hpp"

namespace gpu_sim::nccl {

// "Init START", of the process's first communicator with the version and the network before it.
void announce_start(ncclComm_t handle, const Communicator& communicator);
// The channels, and "Init COMPLETE".
void announce_complete(ncclComm_t handle, const Communicator& communicator);
// The algorithm that is taken for a call; said by rank 0 alone.
void announce_tuning(const Communicator& communicator, const Call& call);

}  // namespace gpu_sim::nccl
