#include "probes/gpu/assigned_gpu.hpp"

namespace fleetbench::gpu {

const Gpu& AssignedGpu::select() const {
  if (!gpu_) {
    gpu_ = std::make_unique<Gpu>(uuid_.empty() ? Gpu(visible_gpus().front()) : gpu_by_uuid(uuid_));
  }
  gpu_->select();
  return *gpu_;
}

}  // namespace fleetbench::gpu
