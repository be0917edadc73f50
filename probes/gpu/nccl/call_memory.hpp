// Memory of the device that calls of NCCL read and write.
#pragma once

#include "probes/gpu/nccl/communicator.hpp"

namespace fleetbench::gpu::nccl {

class CallMemory : public DeviceMemory {
 public:
  using DeviceMemory::DeviceMemory;
  ~CallMemory() {
    if (Communicator::is_stuck()) {
      leak();
    }
  }
  CallMemory(const CallMemory&) = delete;
  CallMemory& operator=(const CallMemory&) = delete;
};

}  // namespace fleetbench::gpu::nccl
