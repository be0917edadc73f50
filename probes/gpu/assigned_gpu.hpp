// The device that a worker was started for, looked for when it is first needed: a catalog can be
// had where there is no GPU.
#pragma once

#include <memory>
#include <string>

#include "probes/gpu/gpu.hpp"

namespace fleetbench::gpu {

class AssignedGpu {
 public:
  // Empty: the first that CUDA shows.
  explicit AssignedGpu(std::string uuid) : uuid_(std::move(uuid)) {}
  // Selected for the calling thread. Throws NotAvailable where it is not there, CudaError.
  const Gpu& select() const;

 private:
  std::string uuid_;
  mutable std::unique_ptr<Gpu> gpu_;
};

}  // namespace fleetbench::gpu
