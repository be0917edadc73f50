// Memory of devices and page-locked memory.
#include "tests/gpu_sim/cudart/call.hpp"

using gpu_sim::call;
using gpu_sim::Device;
using gpu_sim::give_back;
using gpu_sim::Lock;
using gpu_sim::Model;
using gpu_sim::require;

namespace {

cudaError_t allocate_host(void** address, std::size_t bytes) {
  return call([&](Model& model, Lock&) {
    require(address != nullptr);
    model.current_device();
    *address = bytes == 0 ? nullptr : model.memory.allocate_host(bytes);
  });
}

// What runs may still use the memory that goes.
void finish_all(Model& model, Lock& lock) {
  for (const auto& device : model.devices) {
    model.wait_for_device(lock, *device);
  }
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  return call([&](Model& model, Lock&) {
    require(address != nullptr);
    Device& device = model.current_device();
    *address = bytes == 0 ? nullptr : model.memory.allocate(device, bytes);
  });
}

cudaError_t cudaFree(void* address) {
  return give_back([&](Model& model, Lock& lock) {
    if (address == nullptr) {
      model.current_device();
      return;
    }
    if (!model.sticky) {
      model.wait_for_device(lock, model.memory.owner(address));
    }
    model.memory.free(address);
  });
}

cudaError_t cudaMallocHost(void** address, std::size_t bytes) {
  return allocate_host(address, bytes);
}

cudaError_t cudaHostAlloc(void** address, std::size_t bytes, unsigned flags) {
  constexpr unsigned kKnown =
      cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
  return (flags & ~kKnown) == 0 ? allocate_host(address, bytes)
                                : gpu_sim::noted(cudaErrorInvalidValue);
}

cudaError_t cudaFreeHost(void* address) {
  return give_back([&](Model& model, Lock& lock) {
    if (address == nullptr) {
      return;
    }
    if (!model.sticky) {
      finish_all(model, lock);
    }
    model.memory.free_host(address);
  });
}

cudaError_t cudaHostRegister(void* address, std::size_t bytes, unsigned flags) {
  return call([&](Model& model, Lock&) {
    constexpr unsigned kKnown = cudaHostRegisterPortable | cudaHostRegisterMapped;
    require((flags & ~kKnown) == 0);
    model.current_device();
    model.memory.register_host(address, bytes);
  });
}

cudaError_t cudaHostUnregister(void* address) {
  return give_back([&](Model& model, Lock& lock) {
    if (!model.sticky) {
      finish_all(model, lock);
    }
    model.memory.unregister_host(address);
  });
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return call([&](Model& model, Lock&) {
    require(device != nullptr && flags == 0 && model.memory.is_page_locked(host));
    *device = host;
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call([&](Model& model, Lock&) {
    require(free != nullptr && total != nullptr);
    const Device& device = model.current_device();
    *free = device.usable_bytes() - device.used_bytes;
    *total = device.memory_bytes();
  });
}

}  // extern "C"
