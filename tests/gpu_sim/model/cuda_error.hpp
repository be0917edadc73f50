// How the model refuses: with the error that CUDA returns.
#pragma once

#include <driver_types.h>

#include <exception>

namespace gpu_sim {

struct CudaError : std::exception {
  explicit CudaError(cudaError_t why) : code(why) {}
  const char* what() const noexcept override { return "an error of CUDA"; }
  cudaError_t code;
};

inline void require(bool fine, cudaError_t otherwise = cudaErrorInvalidValue) {
  if (!fine) {
    throw CudaError(otherwise);
  }
}

}  // namespace gpu_sim
