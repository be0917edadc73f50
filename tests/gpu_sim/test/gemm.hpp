// A multiplication by cuBLASLt, as tests need it.
#pragma once

#include <cublasLt.h>

#include <vector>

#include "tests/gpu_sim/test/owners.hpp"

namespace gpu_sim_test {

// What multiplies what. Matrices lie by columns without gaps.
struct GemmShape {
  cudaDataType_t inputs = CUDA_R_32F;
  cudaDataType_t result = CUDA_R_32F;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  bool turned_a = false;
  bool turned_b = false;
  std::uint64_t m = 64;
  std::uint64_t n = 48;
  std::uint64_t k = 32;
};

std::size_t bytes_of(cudaDataType_t type);
// The number of a type for the kernels that write matrices.
int kernel_type(cudaDataType_t type);

// Descriptors and a handle for one shape.
class Gemm {
 public:
  explicit Gemm(const GemmShape& shape);
  Gemm(const Gemm&) = delete;
  Gemm& operator=(const Gemm&) = delete;
  ~Gemm();

  cublasStatus_t set_scale_of_a(const float* scale);
  // At most ten algorithms that need no more workspace.
  std::vector<cublasLtMatmulHeuristicResult_t> algorithms(std::size_t workspace_bytes) const;
  // A status where there are none.
  cublasStatus_t heuristic_status() const;
  cublasStatus_t check(const cublasLtMatmulAlgo_t& algo) const;
  // With beta 0, where C is the same as D, and no workspace unless it is given.
  cublasStatus_t run(const void* a, const void* b, void* d, cudaStream_t stream,
                     const cublasLtMatmulAlgo_t* algo = nullptr, void* workspace = nullptr,
                     std::size_t workspace_bytes = 0, float alpha = 1, float beta = 0) const;

 private:
  cublasStatus_t ask(std::size_t workspace_bytes,
                     std::vector<cublasLtMatmulHeuristicResult_t>& results) const;

  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t desc_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr;
  cublasLtMatrixLayout_t b_ = nullptr;
  cublasLtMatrixLayout_t d_ = nullptr;
};

}  // namespace gpu_sim_test
