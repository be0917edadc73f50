// What every function of the library does beside its work.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "tests/gpu_sim/model/cuda_error.hpp"
#include "tests/gpu_sim/nccl/group.hpp"
#include "tests/gpu_sim/nccl/log.hpp"

namespace gpu_sim::nccl {

inline ncclResult_t refused(ncclResult_t code, const std::string& text) {
  warn(text);
  spoil_group(code);
  return code;
}

// `body()`, or the code of what it throws, with its text as the last error.
template <typename Body>
ncclResult_t api_call(Body body) {
  try {
    return body();
  } catch (const NcclError& error) {
    return refused(error.code, error.what());
  } catch (const CudaError& error) {
    return refused(ncclUnhandledCudaError, "Cuda failure " + std::to_string(error.code));
  }
}

}  // namespace gpu_sim::nccl
