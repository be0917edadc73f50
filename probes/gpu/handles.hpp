// Owners of what CUDA hands out. All belong to the device that was selected when they were made,
// which must outlive them. Constructors throw CudaError; destructors swallow errors, for there is
// nobody left to tell.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>

#include "probes/gpu/gpu.hpp"

namespace fleetbench::gpu {

struct FreeDevice {
  void operator()(void* memory) const { cudaFree(memory); }
};
struct FreeHost {
  void operator()(void* memory) const { cudaFreeHost(memory); }
};
struct DestroyStream {
  void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
};
struct DestroyEvent {
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};

// `bytes` of the device's memory, not initialised.
class DeviceMemory {
 public:
  DeviceMemory(const Gpu& gpu, std::size_t bytes) : bytes_(bytes) {
    void* memory = nullptr;
    gpu.check(cudaMalloc(&memory, bytes), "cudaMalloc");
    memory_.reset(memory);
  }
  void* get() const { return memory_.get(); }
  template <typename T>
  T* as() const {
    return static_cast<T*>(memory_.get());
  }
  std::size_t bytes() const { return bytes_; }
  // It is never given back: freeing waits for the device, which may be busy for ever.
  void leak() { static_cast<void>(memory_.release()); }

 private:
  std::size_t bytes_;
  std::unique_ptr<void, FreeDevice> memory_;
};

class Stream {
 public:
  explicit Stream(const Gpu& gpu) {
    cudaStream_t stream = nullptr;
    gpu.check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
              "cudaStreamCreateWithFlags");
    stream_.reset(stream);
  }
  cudaStream_t get() const { return stream_.get(); }

 private:
  std::unique_ptr<CUstream_st, DestroyStream> stream_;
};

class Event {
 public:
  explicit Event(const Gpu& gpu) {
    cudaEvent_t event = nullptr;
    gpu.check(cudaEventCreate(&event), "cudaEventCreate");
    event_.reset(event);
  }
  cudaEvent_t get() const { return event_.get(); }

 private:
  std::unique_ptr<CUevent_st, DestroyEvent> event_;
};

// From the completion of one recorded event to that of another, by the device's clock. Both must be
// complete.
inline double seconds_between(const Gpu& gpu, const Event& begin, const Event& end) {
  float milliseconds = 0;
  gpu.check(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "cudaEventElapsedTime");
  return milliseconds * 1e-3;
}

}  // namespace fleetbench::gpu
