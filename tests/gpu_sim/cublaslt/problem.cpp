#include "tests/gpu_sim/cublaslt/problem.hpp"

#include <algorithm>

#include "tests/gpu_sim/cublaslt/call.hpp"
#include "tests/gpu_sim/model/chip.hpp"

namespace gpu_sim {

namespace {

bool is_any_of(cudaDataType_t type, std::initializer_list<cudaDataType_t> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

void require_support(bool fine) { require_status(fine, CUBLAS_STATUS_NOT_SUPPORTED); }

cudaDataType_t type_of(const MatrixLayout& layout) {
  return static_cast<cudaDataType_t>(layout.type);
}

void require_layout(const MatrixLayout& layout) {
  require_status(layout.rows > 0 && layout.columns > 0 &&
                 layout.leading >= static_cast<std::int64_t>(layout.rows));
  require_support(layout.order == CUBLASLT_ORDER_COL && layout.batches == 1);
}

bool is_operation(std::int32_t operation) {
  return operation == CUBLAS_OP_N || operation == CUBLAS_OP_T || operation == CUBLAS_OP_C;
}

void require_desc(const MatmulDesc& desc) {
  require_status(is_operation(desc.transpose_a) && is_operation(desc.transpose_b));
  require_support(desc.transpose_c == CUBLAS_OP_N && desc.epilogue == CUBLASLT_EPILOGUE_DEFAULT);
  require_support(desc.pointer_mode == CUBLASLT_POINTER_MODE_HOST ||
                  desc.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE);
  // One factor for a whole matrix.
  require_support(std::all_of(desc.scale_modes.begin(), desc.scale_modes.end(),
                              [](std::int32_t mode) { return mode == 0; }));
}

// What the tensor cores ask of 8-bit matrices: rows of 16 bytes, and A transposed.
void require_fp8_form(const Problem& problem) {
  require_support(problem.desc.transpose_a != CUBLAS_OP_N &&
                  problem.desc.transpose_b == CUBLAS_OP_N);
  for (const MatrixLayout* layout : {&problem.a, &problem.b, &problem.c, &problem.d}) {
    const auto row_bytes =
        static_cast<std::size_t>(layout->leading) * element_bytes(type_of(*layout));
    require_support(row_bytes % 16 == 0);
  }
  require_support(problem.k % 16 == 0 && problem.m % 16 == 0);
}

}  // namespace

Precision precision_of(const Types& types) {
  require_support(types.scale == CUDA_R_32F && types.a == types.b && types.c == types.d);
  const bool tf32 = types.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  require_support(tf32 || types.compute == CUBLAS_COMPUTE_32F);
  switch (types.a) {
    case CUDA_R_32F:
      require_support(types.d == CUDA_R_32F);
      return tf32 ? Precision::tf32 : Precision::fp32;
    case CUDA_R_16F:
      require_support(!tf32 && is_any_of(types.d, {CUDA_R_16F, CUDA_R_32F}));
      return Precision::fp16;
    case CUDA_R_16BF:
      require_support(!tf32 && is_any_of(types.d, {CUDA_R_16BF, CUDA_R_32F}));
      return Precision::bf16;
    case CUDA_R_8F_E4M3:
      require_support(!tf32 && is_any_of(types.d, {CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F}));
      return Precision::fp8;
    default:
      throw StatusError{CUBLAS_STATUS_NOT_SUPPORTED};
  }
}

double flop_per_s(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return chip::kFp32FlopPerS;
    case Precision::tf32:
      return chip::kTf32FlopPerS;
    case Precision::fp16:
    case Precision::bf16:
      return chip::kFp16FlopPerS;
    case Precision::fp8:
      break;
  }
  return chip::kFp8FlopPerS;
}

std::size_t element_bytes(cudaDataType_t type) {
  return type == CUDA_R_32F ? 4 : type == CUDA_R_8F_E4M3 ? 1 : 2;
}

Problem problem_of(cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                   cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d) {
  Problem problem{Precision::fp32,
                  described(desc),
                  described(a),
                  described(b),
                  described(c),
                  described(d),
                  0,
                  0,
                  0};
  require_desc(problem.desc);
  for (const MatrixLayout* layout : {&problem.a, &problem.b, &problem.c, &problem.d}) {
    require_layout(*layout);
  }
  const bool turned_a = problem.desc.transpose_a != CUBLAS_OP_N;
  const bool turned_b = problem.desc.transpose_b != CUBLAS_OP_N;
  problem.m = problem.d.rows;
  problem.n = problem.d.columns;
  problem.k = turned_a ? problem.a.rows : problem.a.columns;
  require_status((turned_a ? problem.a.columns : problem.a.rows) == problem.m);
  require_status((turned_b ? problem.b.columns : problem.b.rows) == problem.k);
  require_status((turned_b ? problem.b.rows : problem.b.columns) == problem.n);
  require_status(problem.c.rows == problem.m && problem.c.columns == problem.n);
  problem.precision = precision_of({problem.desc.compute, problem.desc.scale, type_of(problem.a),
                                    type_of(problem.b), type_of(problem.c), type_of(problem.d)});
  if (problem.precision == Precision::fp8) {
    require_fp8_form(problem);
  }
  return problem;
}

}  // namespace gpu_sim
