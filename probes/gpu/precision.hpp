// The number formats that matrices are multiplied in.
#pragma once

#include <cublasLt.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "probes/gpu/gpu.hpp"
#include "probes/gpu/kernels.hpp"

namespace fleetbench::gpu {

struct Precision {
  std::string_view name;
  ElementType element;  // of A and B
  std::size_t element_bytes;
  cudaDataType_t input;
  cudaDataType_t output;  // of C and D
  std::size_t output_bytes;
  cublasComputeType_t compute;  // all add up in fp32
  int lowest_compute;           // compute capability times ten
};

inline constexpr std::array<Precision, 5> kPrecisions{{
    {"fp32", ElementType::fp32, 4, CUDA_R_32F, CUDA_R_32F, 4, CUBLAS_COMPUTE_32F, 0},
    {"tf32", ElementType::fp32, 4, CUDA_R_32F, CUDA_R_32F, 4, CUBLAS_COMPUTE_32F_FAST_TF32, 80},
    {"fp16", ElementType::fp16, 2, CUDA_R_16F, CUDA_R_16F, 2, CUBLAS_COMPUTE_32F, 70},
    {"bf16", ElementType::bf16, 2, CUDA_R_16BF, CUDA_R_16BF, 2, CUBLAS_COMPUTE_32F, 80},
    {"fp8", ElementType::e4m3, 1, CUDA_R_8F_E4M3, CUDA_R_16BF, 2, CUBLAS_COMPUTE_32F, 89},
}};

// Throws std::invalid_argument.
const Precision& precision_named(std::string_view name);

bool has(const GpuInfo& info, const Precision& precision);

}  // namespace fleetbench::gpu
