// Launches of kernels, and what CUDA says of a kernel.
#include <algorithm>
#include <cstdio>

#include "tests/gpu_sim/cudart/call.hpp"
#include "tests/gpu_sim/cudart/kernels.hpp"
#include "tests/gpu_sim/cudart/twins.hpp"
#include "tests/gpu_sim/model/chip.hpp"
#include "tests/gpu_sim/model/work.hpp"

namespace chip = gpu_sim::chip;
using gpu_sim::call;
using gpu_sim::CudaError;
using gpu_sim::Device;
using gpu_sim::Lock;
using gpu_sim::Model;
using gpu_sim::Queue;
using gpu_sim::require;

namespace {

std::uint64_t volume(const dim3& size) { return std::uint64_t{size.x} * size.y * size.z; }

void require_configuration(const dim3& grid, const dim3& block, std::size_t shared_bytes) {
  const bool fine = volume(grid) > 0 && grid.x <= 0x7FFFFFFFU && grid.y <= 65535 &&
                    grid.z <= 65535 && volume(block) > 0 && block.x <= 1024 && block.y <= 1024 &&
                    block.z <= 64 && volume(block) <= 1024;
  require(fine, cudaErrorInvalidConfiguration);
  require(shared_bytes <= chip::kSharedBytesPerBlock);
}

gpu_sim::Twin twin_or_throw(const void* stub) {
  const std::string name = gpu_sim::kernel_name(stub);
  require(!name.empty(), cudaErrorInvalidDeviceFunction);
  const gpu_sim::Twin twin = gpu_sim::twin_of(name);
  if (twin == nullptr) {
    std::fprintf(stderr, "gpu_sim: tests/gpu_sim/cudart/twins.cpp has no twin of kernel %s\n",
                 name.c_str());
    throw CudaError(cudaErrorNoKernelImageForDevice);
  }
  return twin;
}

// Ends when the twin says so, beside all else that the device does.
void submit_waiting(Model& model, Queue& queue, const gpu_sim::KernelWork& work) {
  gpu_sim::Operation wait;
  wait.end = [end = work.end, reach = gpu_sim::Reach{&model.memory, queue.device}](
                 double begin_ns, double host_ns) { return end(reach, begin_ns, host_ns); };
  model.submit(queue, std::move(wait));
}

void launch(Model& model, Queue& queue, const gpu_sim::KernelWork& work) {
  if (work.end) {
    submit_waiting(model, queue, work);
    return;
  }
  gpu_sim::submit_launch(model, queue, queue.device->kernel_ns(work.bytes, work.mixed_words),
                         [effect = work.effect,
                          reach = gpu_sim::Reach{&model.memory, queue.device}] { effect(reach); });
}

int resident_blocks(int threads, std::size_t shared_bytes) {
  int blocks = std::min(chip::kBlocksPerMultiprocessor,
                        chip::kThreadsPerMultiprocessor / ((threads + 31) / 32 * 32));
  if (shared_bytes > 0) {
    // A block's own and what the driver keeps of it.
    blocks = std::min(
        blocks, static_cast<int>(chip::kSharedBytesPerMultiprocessor / (shared_bytes + 1024)));
  }
  return blocks;
}

}  // namespace

extern "C" {

cudaError_t cudaLaunchKernel(const void* stub, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes, cudaStream_t stream) {
  return call([&](Model& model, Lock&) {
    const gpu_sim::Twin twin = twin_or_throw(stub);
    require_configuration(grid, block, shared_bytes);
    const auto queue = model.queue(stream);
    require(queue->device == &model.current_device(), cudaErrorInvalidResourceHandle);
    launch(model, *queue, twin({arguments, volume(grid) * volume(block)}));
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* stub) {
  return call([&](Model& model, Lock&) {
    require(attributes != nullptr);
    model.current_device();
    twin_or_throw(stub);
    *attributes = {};
    attributes->maxThreadsPerBlock = 1024;
    attributes->numRegs = 32;
    attributes->binaryVersion = 10 * chip::kMajor + chip::kMinor;
    attributes->ptxVersion = attributes->binaryVersion;
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(chip::kSharedBytesPerBlock);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* stub,
                                                                   int threads,
                                                                   std::size_t shared_bytes,
                                                                   unsigned) {
  return call([&](Model& model, Lock&) {
    require(blocks != nullptr && threads > 0);
    model.current_device();
    twin_or_throw(stub);
    *blocks = threads > 1024 ? 0 : resident_blocks(threads, shared_bytes);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* stub,
                                                          int threads, std::size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, stub, threads, shared_bytes,
                                                                cudaOccupancyDefault);
}

}  // extern "C"
