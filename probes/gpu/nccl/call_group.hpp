// Sends and receives that NCCL does together.
#pragma once

#include "probes/gpu/nccl/communicator.hpp"

namespace fleetbench::gpu::nccl {

// Throws what Communicator::check throws; the group then stays open, which matters to nobody, for
// the communicator is aborted.
class CallGroup {
 public:
  CallGroup(Communicator& communicator, cudaStream_t stream);

  void send(const void* from, std::size_t count, ncclDataType_t type, std::size_t to);
  void receive(void* to, std::size_t count, ncclDataType_t type, std::size_t from);
  // Enqueues all of it.
  void end();

 private:
  void check(ncclResult_t result, const char* call);

  Communicator& communicator_;
  cudaStream_t stream_;
};

}  // namespace fleetbench::gpu::nccl
