// Sends and receives that NCCL does together.
#pragma once

#include "probes/gpu/nccl/communicator.hpp"

namespace fleetbench::gpu::nccl {

// Throws what Communicator::check throws. The group is the thread's, not the communicator's: one
// that was not ended is when this goes, or a later communicator's calls would only be queued in it.
class CallGroup {
 public:
  CallGroup(Communicator& communicator, cudaStream_t stream);
  ~CallGroup();
  CallGroup(const CallGroup&) = delete;
  CallGroup& operator=(const CallGroup&) = delete;

  void send(const void* from, std::size_t count, ncclDataType_t type, std::size_t to);
  void receive(void* to, std::size_t count, ncclDataType_t type, std::size_t from);
  // Enqueues all of it.
  void end();

 private:
  void check(ncclResult_t result, const char* call);

  Communicator& communicator_;
  cudaStream_t stream_;
  bool open_ = true;
};

}  // namespace fleetbench::gpu::nccl
