// Errors: the last one, and their names.
#include <array>
#include <utility>

#include "tests/gpu_sim/cudart/call.hpp"

namespace gpu_sim {

namespace {

thread_local cudaError_t last = cudaSuccess;

struct Known {
  cudaError_t code;
  const char* name;
  const char* text;
};

// Those that the simulation returns.
constexpr std::array kKnown{
    Known{cudaSuccess, "cudaSuccess", "no error"},
    Known{cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    Known{cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    Known{cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
          "invalid configuration argument"},
    Known{cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection",
          "invalid copy direction for memcpy"},
    Known{cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
          "CUDA driver version is insufficient for CUDA runtime version"},
    Known{cudaErrorDevicesUnavailable, "cudaErrorDevicesUnavailable",
          "CUDA-capable device(s) is/are busy or unavailable"},
    Known{cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction",
          "invalid device function"},
    Known{cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    Known{cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    Known{cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
          "no kernel image is available for execution on the device"},
    Known{cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle",
          "invalid resource handle"},
    Known{cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    Known{cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
          "an illegal memory access was encountered"},
    Known{cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled",
          "peer access is already enabled"},
    Known{cudaErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled",
          "peer access has not been enabled"},
    Known{cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
          "part or all of the requested memory range is already mapped"},
    Known{cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
          "pointer does not correspond to a registered memory region"},
    Known{cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
};

Known known(cudaError_t code) {
  for (const Known& error : kKnown) {
    if (error.code == code) {
      return error;
    }
  }
  return {code, "unrecognized error code", "unrecognized error code"};
}

}  // namespace

cudaError_t noted(cudaError_t error) {
  last = error;
  return error;
}

}  // namespace gpu_sim

extern "C" {

cudaError_t cudaPeekAtLastError() {
  gpu_sim::Model& model = gpu_sim::Model::get();
  const gpu_sim::Lock lock(model.mutex);
  return model.sticky.value_or(gpu_sim::last);
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  gpu_sim::last = cudaSuccess;
  return error;
}

const char* cudaGetErrorName(cudaError_t error) { return gpu_sim::known(error).name; }
const char* cudaGetErrorString(cudaError_t error) { return gpu_sim::known(error).text; }

}  // extern "C"
