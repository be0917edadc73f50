// Groups: calls between ncclGroupStart and ncclGroupEnd take place together.
#pragma once

#include "tests/gpu_sim/nccl/endpoint.hpp"

namespace gpu_sim::nccl {

// Launches the call, at once or at the end of this thread's group. Returns what the function says.
ncclResult_t launch_or_group(const EndpointPtr& endpoint, cudaStream_t stream,
                             const LocalCall& call);
// Waits for an initialisation, at once or at the end of the group, unless the communicator does not
// block. Returns what the function says.
ncclResult_t await_or_group(const EndpointPtr& endpoint);

// Whether this thread is between start and end.
bool in_group();
// What a call in a group refuses, its end refuses too.
void spoil_group(ncclResult_t result);

}  // namespace gpu_sim::nccl
