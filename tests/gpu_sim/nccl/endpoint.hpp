// What a program's ncclComm_t stands for: a communicator and the device that it works on.
#pragma once

#include <memory>
#include <vector>

#include "tests/gpu_sim/nccl/communicator.hpp"

namespace gpu_sim::nccl {

struct Endpoint {
  ncclComm_t handle = nullptr;
  Device* device = nullptr;
  bool blocking = true;
  std::unique_ptr<Communicator> communicator;
  // Launches that may not be done; with the model locked.
  std::vector<OperationPtr> operations;
  // Questions that are still answered with ncclInProgress: a communicator that does not block
  // launches later, and says so.
  int questions = 0;
  bool is_finalizing = false;
  bool has_finalized = false;  // told the hub
};
using EndpointPtr = std::shared_ptr<Endpoint>;

// The endpoint of a handle; NcclError of ncclInvalidArgument where it is none, as NCCL's text of
// `function` says.
EndpointPtr endpoint_of(ncclComm_t handle, const char* function);
void add_endpoint(const EndpointPtr& endpoint);
void remove_endpoint(const EndpointPtr& endpoint);

// Throws NcclError where the communicator is still busy with what it was called for before, or has
// failed.
void require_ready(const Endpoint& endpoint);

// A call with its buffers.
struct LocalCall {
  Call call;
  const void* input;
  void* output;
};

// Puts calls that go together into a stream, with the faults that come with them.
void launch(const EndpointPtr& endpoint, cudaStream_t stream, const std::vector<LocalCall>& calls);

// Whether all that was launched is done; runs what can run. With the model locked.
bool is_drained(Model& model, Endpoint& endpoint);

}  // namespace gpu_sim::nccl
