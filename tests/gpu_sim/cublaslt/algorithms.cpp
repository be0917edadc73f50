#include "tests/gpu_sim/cublaslt/algorithms.hpp"

#include <array>
#include <cstring>
#include <set>

#include "tests/gpu_sim/cublaslt/call.hpp"
#include "tests/gpu_sim/model/chip.hpp"

namespace gpu_sim {

namespace {

constexpr std::array kAlgorithms{
    Algorithm{66, CUBLASLT_MATMUL_TILE_128x256, 128, 256, 1, 0.97, 0},
    Algorithm{67, CUBLASLT_MATMUL_TILE_128x128, 128, 128, 1, 1.00, std::size_t{4} << 20},
    Algorithm{66, CUBLASLT_MATMUL_TILE_256x128, 256, 128, 1, 0.95, 0},
    Algorithm{67, CUBLASLT_MATMUL_TILE_128x128, 128, 128, 2, 0.93, std::size_t{16} << 20},
    Algorithm{68, CUBLASLT_MATMUL_TILE_64x128, 64, 128, 1, 0.90, 0},
    Algorithm{68, CUBLASLT_MATMUL_TILE_64x64, 64, 64, 1, 0.80, 0}};

struct Packed {
  static constexpr std::uint64_t kMagic = 0x67707573696D616CU;
  std::uint64_t magic;
  std::uint32_t precision;
  std::uint32_t number;
};
static_assert(sizeof(Packed) <= sizeof(cublasLtMatmulAlgo_t));

Packed content(const cublasLtMatmulAlgo_t& algo) {
  Packed content{};
  std::memcpy(&content, &algo, sizeof content);
  require_status(content.magic == Packed::kMagic && content.number < kAlgorithms.size());
  return content;
}

}  // namespace

std::span<const Algorithm> algorithms() { return kAlgorithms; }

cublasLtMatmulAlgo_t packed(const Algorithm& algorithm, Precision precision) {
  const Packed content{Packed::kMagic, static_cast<std::uint32_t>(precision),
                       static_cast<std::uint32_t>(&algorithm - kAlgorithms.data())};
  cublasLtMatmulAlgo_t algo{};
  std::memcpy(&algo, &content, sizeof content);
  return algo;
}

const Algorithm& unpacked(const cublasLtMatmulAlgo_t& algo) {
  return kAlgorithms[content(algo).number];
}

const Algorithm& unpacked(const cublasLtMatmulAlgo_t& algo, Precision precision) {
  require_status(content(algo).precision == static_cast<std::uint32_t>(precision),
                 CUBLAS_STATUS_NOT_SUPPORTED);
  return unpacked(algo);
}

}  // namespace gpu_sim

using namespace gpu_sim;

namespace {

cublasLtMatmulHeuristicResult_t result_of(const Problem& problem, const Algorithm& algorithm) {
  const auto tiles =
      static_cast<float>((problem.m + algorithm.tile_rows - 1) / algorithm.tile_rows) *
      static_cast<float>((problem.n + algorithm.tile_columns - 1) / algorithm.tile_columns);
  cublasLtMatmulHeuristicResult_t result{};
  result.algo = packed(algorithm, problem.precision);
  result.workspaceSize = algorithm.workspace_bytes;
  result.state = CUBLAS_STATUS_SUCCESS;
  result.wavesCount = tiles * static_cast<float>(algorithm.split_k) / chip::kMultiprocessors;
  return result;
}

int option_of(const Algorithm& algorithm, cublasLtMatmulAlgoConfigAttributes_t attribute) {
  switch (attribute) {
    case CUBLASLT_ALGO_CONFIG_ID:
      return algorithm.id;
    case CUBLASLT_ALGO_CONFIG_TILE_ID:
      return algorithm.tile;
    case CUBLASLT_ALGO_CONFIG_SPLITK_NUM:
      return algorithm.split_k;
    case CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME:
      return algorithm.split_k > 1 ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE
                                   : CUBLASLT_REDUCTION_SCHEME_NONE;
    case CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING:
    case CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION:
    case CUBLASLT_ALGO_CONFIG_STAGES_ID:
      return 0;
    case CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID:
    case CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID:
      return 0;
    default:
      throw StatusError{CUBLAS_STATUS_INVALID_VALUE};
  }
}

// The last two are 16-bit numbers.
std::size_t option_bytes(cublasLtMatmulAlgoConfigAttributes_t attribute) {
  return attribute >= CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID ? 2 : 4;
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int requested,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* returned) {
  return lt_call([&](Model&, Lock&) {
    require_handle(handle);
    require_status(requested > 0 && results != nullptr && returned != nullptr);
    *returned = 0;
    const Problem problem = problem_of(desc, a, b, c, d);
    for (const Algorithm& algorithm : algorithms()) {
      if (*returned < requested &&
          algorithm.workspace_bytes <= described(preference).workspace_bytes) {
        results[(*returned)++] = result_of(problem, algorithm);
      }
    }
  });
}

cublasStatus_t cublasLtMatmulAlgoGetIds(cublasLtHandle_t handle, cublasComputeType_t compute,
                                        cudaDataType_t scale, cudaDataType_t a, cudaDataType_t b,
                                        cudaDataType_t c, cudaDataType_t d, int requested,
                                        int ids[], int* returned) {
  return lt_call([&](Model&, Lock&) {
    require_handle(handle);
    require_status(requested > 0 && ids != nullptr && returned != nullptr);
    precision_of({compute, scale, a, b, c, d});
    std::set<int> different;
    for (const Algorithm& algorithm : algorithms()) {
      different.insert(algorithm.id);
    }
    *returned = 0;
    for (const int id : different) {
      if (*returned < requested) {
        ids[(*returned)++] = id;
      }
    }
  });
}

cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t handle, cublasComputeType_t compute,
                                      cudaDataType_t scale, cudaDataType_t a, cudaDataType_t b,
                                      cudaDataType_t c, cudaDataType_t d, int id,
                                      cublasLtMatmulAlgo_t* algo) {
  return lt_call([&](Model&, Lock&) {
    require_handle(handle);
    require_status(algo != nullptr);
    const Precision precision = precision_of({compute, scale, a, b, c, d});
    for (const Algorithm& algorithm : algorithms()) {
      if (algorithm.id == id) {
        *algo = packed(algorithm, precision);
        return;
      }
    }
    throw StatusError{CUBLAS_STATUS_INVALID_VALUE};
  });
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                       cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                       cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t* algo,
                                       cublasLtMatmulHeuristicResult_t* result) {
  return lt_call([&](Model&, Lock&) {
    require_handle(handle);
    require_status(algo != nullptr && result != nullptr);
    const Problem problem = problem_of(desc, a, b, c, d);
    *result = result_of(problem, unpacked(*algo, problem.precision));
  });
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* algo,
                                                    cublasLtMatmulAlgoConfigAttributes_t attribute,
                                                    void* value, std::size_t bytes,
                                                    std::size_t* written) {
  return lt_call([&](Model&, Lock&) {
    require_status(algo != nullptr && (bytes == 0 ? written != nullptr : value != nullptr));
    const int option = option_of(unpacked(*algo), attribute);
    const std::size_t size = option_bytes(attribute);
    require_status(bytes == 0 || bytes >= size);
    if (written != nullptr) {
      *written = size;
    }
    if (bytes > 0) {
      std::memcpy(value, &option, size);  // little-endian
    }
  });
}

}  // extern "C"
