// Descriptors: what lies in the opaque structures of cublasLt.h.
#pragma once

#include <cublasLt.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace gpu_sim {

struct MatmulDesc {
  static constexpr std::uint32_t kMagic = 0x6D61746D;
  std::uint32_t magic = kMagic;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType_t scale = CUDA_R_32F;
  std::int32_t pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  std::int32_t transpose_a = CUBLAS_OP_N;
  std::int32_t transpose_b = CUBLAS_OP_N;
  std::int32_t transpose_c = CUBLAS_OP_N;
  std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  std::int32_t sm_count_target = 0;
  std::int8_t fast_accumulation = 0;
  std::array<std::int32_t, 4> scale_modes{};  // of A, B, C, D
  std::array<const void*, 4> scale_pointers{};
};

struct MatrixLayout {
  static constexpr std::uint32_t kMagic = 0x6C61796F;
  std::uint32_t magic = kMagic;
  std::uint32_t type = CUDA_R_32F;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::int64_t leading = 0;
  std::int64_t batch_stride = 0;
  std::int32_t order = CUBLASLT_ORDER_COL;
  std::int32_t batches = 1;
};

struct Preference {
  static constexpr std::uint32_t kMagic = 0x70726566;
  std::uint32_t magic = kMagic;
  std::uint32_t search_mode = 0;
  std::uint64_t workspace_bytes = 0;
  std::uint32_t reduction_mask = ~std::uint32_t{0};
  std::array<std::uint32_t, 4> alignment{256, 256, 256, 256};
  float waves = 0;
};

// What a pointer of the program describes; throws CUBLAS_STATUS_INVALID_VALUE where it is null or
// not initialised as such.
const MatmulDesc& described(cublasLtMatmulDesc_t descriptor);
const MatrixLayout& described(cublasLtMatrixLayout_t layout);
const Preference& described(cublasLtMatmulPreference_t preference);

}  // namespace gpu_sim
