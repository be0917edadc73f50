// What programs built by nvcc call as they are loaded and around each launch.
#include <vector>

#include "tests/gpu_sim/cudart/call.hpp"
#include "tests/gpu_sim/cudart/kernels.hpp"

namespace {

struct Configuration {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes;
  cudaStream_t stream;
};

thread_local std::vector<Configuration> configurations;

}  // namespace

extern "C" {

// The handle only comes back in calls that need not look at it.
void** __cudaRegisterFatBinary(void* binary) { return static_cast<void**>(binary); }

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void**) {}

char __cudaInitModule(void**) { return 1; }

void __cudaRegisterFunction(void**, const char* stub, char*, const char* name, int, uint3*, uint3*,
                            dim3*, dim3*, int*) {
  gpu_sim::register_kernel(stub, name);
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes,
                                     cudaStream_t stream) {
  configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes,
                                       void* stream) {
  if (configurations.empty()) {
    return gpu_sim::noted(cudaErrorInvalidConfiguration);
  }
  const Configuration last = configurations.back();
  configurations.pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = last.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* stub) {
  if (gpu_sim::kernel_name(stub).empty()) {
    return gpu_sim::noted(cudaErrorInvalidDeviceFunction);
  }
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(stub));
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared_bytes, cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

}  // extern "C"
