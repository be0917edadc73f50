// The numbers that the kernels write, and how a matrix holds them.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstddef>
#include <cstdint>

#include "tests/gpu_sim/model/cuda_error.hpp"

namespace gpu_sim {

// MurmurHash3's finaliser (A. Appleby) over a seed and a position.
inline std::uint32_t mixed(std::uint32_t seed, std::uint64_t position) {
  const auto low = static_cast<std::uint32_t>(position & 0xFFFFFFFFU);
  const auto high = static_cast<std::uint32_t>(position >> 32U);
  std::uint32_t hash = seed ^ low ^ (high * 2654435769U);
  hash = (hash ^ (hash >> 16U)) * 2246822507U;
  hash = (hash ^ (hash >> 13U)) * 3266489909U;
  return hash ^ (hash >> 16U);
}

// Element types as the kernels number them: 0 fp32, 1 fp16, 2 bf16, 3 e4m3. Another number is an
// error of the launch.
inline std::size_t element_bytes(int type) {
  require(type >= 0 && type <= 3, cudaErrorLaunchFailure);
  return type == 0 ? 4 : type == 3 ? 1 : 2;
}

inline void put_element(void* matrix, std::size_t i, int type, float value) {
  switch (type) {
    case 0:
      static_cast<float*>(matrix)[i] = value;
      break;
    case 1:
      static_cast<__half*>(matrix)[i] = __float2half_rn(value);
      break;
    case 2:
      static_cast<__nv_bfloat16*>(matrix)[i] = __float2bfloat16_rn(value);
      break;
    default:
      static_cast<__nv_fp8_e4m3*>(matrix)[i] = __nv_fp8_e4m3(value);
      break;
  }
}

}  // namespace gpu_sim
