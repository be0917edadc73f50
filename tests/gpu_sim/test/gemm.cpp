#include "tests/gpu_sim/test/gemm.hpp"

namespace gpu_sim_test {

namespace {

void expect_fine(cublasStatus_t status) {
  EXPECT_EQ(status, CUBLAS_STATUS_SUCCESS) << cublasLtGetStatusName(status);
}

cublasLtMatrixLayout_t layout(cudaDataType_t type, std::uint64_t rows, std::uint64_t columns) {
  cublasLtMatrixLayout_t made = nullptr;
  expect_fine(
      cublasLtMatrixLayoutCreate(&made, type, rows, columns, static_cast<std::int64_t>(rows)));
  return made;
}

void turn(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t which, bool turned) {
  const cublasOperation_t operation = turned ? CUBLAS_OP_T : CUBLAS_OP_N;
  expect_fine(cublasLtMatmulDescSetAttribute(desc, which, &operation, sizeof operation));
}

}  // namespace

std::size_t bytes_of(cudaDataType_t type) {
  return type == CUDA_R_32F ? 4 : type == CUDA_R_8F_E4M3 ? 1 : 2;
}

int kernel_type(cudaDataType_t type) {
  switch (type) {
    case CUDA_R_16F:
      return 1;
    case CUDA_R_16BF:
      return 2;
    case CUDA_R_8F_E4M3:
      return 3;
    default:
      return 0;
  }
}

Gemm::Gemm(const GemmShape& shape)
    : a_(shape.turned_a ? layout(shape.inputs, shape.k, shape.m)
                        : layout(shape.inputs, shape.m, shape.k)),
      b_(shape.turned_b ? layout(shape.inputs, shape.n, shape.k)
                        : layout(shape.inputs, shape.k, shape.n)),
      d_(layout(shape.result, shape.m, shape.n)) {
  expect_fine(cublasLtCreate(&handle_));
  expect_fine(cublasLtMatmulDescCreate(&desc_, shape.compute, CUDA_R_32F));
  turn(desc_, CUBLASLT_MATMUL_DESC_TRANSA, shape.turned_a);
  turn(desc_, CUBLASLT_MATMUL_DESC_TRANSB, shape.turned_b);
}

Gemm::~Gemm() {
  cublasLtMatrixLayoutDestroy(a_);
  cublasLtMatrixLayoutDestroy(b_);
  cublasLtMatrixLayoutDestroy(d_);
  cublasLtMatmulDescDestroy(desc_);
  cublasLtDestroy(handle_);
}

cublasStatus_t Gemm::set_scale_of_a(const float* scale) {
  return cublasLtMatmulDescSetAttribute(desc_, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &scale,
                                        sizeof scale);
}

cublasStatus_t Gemm::ask(std::size_t workspace_bytes,
                         std::vector<cublasLtMatmulHeuristicResult_t>& results) const {
  cublasLtMatmulPreference_t preference = nullptr;
  expect_fine(cublasLtMatmulPreferenceCreate(&preference));
  expect_fine(cublasLtMatmulPreferenceSetAttribute(preference,
                                                   CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                   &workspace_bytes, sizeof workspace_bytes));
  int found = 0;
  results.resize(10);
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      handle_, desc_, a_, b_, d_, d_, preference, 10, results.data(), &found);
  results.resize(static_cast<std::size_t>(found));
  expect_fine(cublasLtMatmulPreferenceDestroy(preference));
  return status;
}

std::vector<cublasLtMatmulHeuristicResult_t> Gemm::algorithms(std::size_t workspace_bytes) const {
  std::vector<cublasLtMatmulHeuristicResult_t> results;
  expect_fine(ask(workspace_bytes, results));
  return results;
}

cublasStatus_t Gemm::heuristic_status() const {
  std::vector<cublasLtMatmulHeuristicResult_t> results;
  return ask(0, results);
}

cublasStatus_t Gemm::check(const cublasLtMatmulAlgo_t& algo) const {
  cublasLtMatmulHeuristicResult_t result{};
  return cublasLtMatmulAlgoCheck(handle_, desc_, a_, b_, d_, d_, &algo, &result);
}

cublasStatus_t Gemm::run(const void* a, const void* b, void* d, cudaStream_t stream,
                         const cublasLtMatmulAlgo_t* algo, void* workspace,
                         std::size_t workspace_bytes, float alpha, float beta) const {
  return cublasLtMatmul(handle_, desc_, &alpha, a, a_, b, b_, &beta, d, d_, d, d_, algo, workspace,
                        workspace_bytes, stream);
}

}  // namespace gpu_sim_test
