// One multiplication: D = alpha · op(A) · op(B) + beta · C, and whether the library can do it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/gpu_sim/cublaslt/descriptors.hpp"

namespace gpu_sim {

enum class Precision : std::uint32_t { fp32 = 1, tf32, fp16, bf16, fp8 };

struct Types {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cudaDataType_t a, b, c, d;
};

// Throws CUBLAS_STATUS_NOT_SUPPORTED for a combination that the library lacks.
Precision precision_of(const Types& types);

double flop_per_s(Precision precision);
std::size_t element_bytes(cudaDataType_t type);

struct Problem {
  Precision precision;
  MatmulDesc desc;
  MatrixLayout a, b, c, d;
  std::uint64_t m, n, k;

  double flop() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

// Throws CUBLAS_STATUS_INVALID_VALUE where the shapes do not go together, and
// CUBLAS_STATUS_NOT_SUPPORTED.
Problem problem_of(cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                   cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d);

}  // namespace gpu_sim
