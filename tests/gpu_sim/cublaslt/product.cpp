#include "tests/gpu_sim/cublaslt/product.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <bit>
#include <cstring>
#include <vector>

namespace gpu_sim {

namespace {

template <typename T>
T read_as(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

float element(const std::byte* at, cudaDataType_t type) {
  switch (type) {
    case CUDA_R_16F:
      return __half2float(read_as<__half>(at));
    case CUDA_R_16BF:
      return __bfloat162float(read_as<__nv_bfloat16>(at));
    case CUDA_R_8F_E4M3:
      return static_cast<float>(read_as<__nv_fp8_e4m3>(at));
    default:
      return read_as<float>(at);
  }
}

void put(std::byte* at, cudaDataType_t type, float value) {
  switch (type) {
    case CUDA_R_16F: {
      const __half half = __float2half_rn(value);
      std::memcpy(at, &half, sizeof half);
      break;
    }
    case CUDA_R_16BF: {
      const __nv_bfloat16 half = __float2bfloat16_rn(value);
      std::memcpy(at, &half, sizeof half);
      break;
    }
    default:
      std::memcpy(at, &value, sizeof value);
  }
}

// To the 10 bits of mantissa that TF32 has, to the nearest.
float rounded_to_tf32(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0xFFFU + ((bits >> 13U) & 1U)) & ~std::uint32_t{0x1FFF};
  return std::bit_cast<float>(rounded);
}

// op(matrix) as floats, by columns without gaps.
std::vector<float> loaded(const std::byte* from, const MatrixLayout& layout, bool turned,
                          bool as_tf32) {
  const auto type = static_cast<cudaDataType_t>(layout.type);
  const std::size_t size = element_bytes(type);
  std::vector<float> to(layout.rows * layout.columns);
  for (std::uint64_t column = 0; column < layout.columns; ++column) {
    const std::byte* at = from + column * static_cast<std::uint64_t>(layout.leading) * size;
    for (std::uint64_t row = 0; row < layout.rows; ++row) {
      const float value = element(at + row * size, type);
      to[turned ? row * layout.columns + column : column * layout.rows + row] =
          as_tf32 ? rounded_to_tf32(value) : value;
    }
  }
  return to;
}

// Adds factor · x to y.
void add_scaled(float* y, const float* x, float factor, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    y[i] += factor * x[i];
  }
}

}  // namespace

std::size_t span_bytes(const MatrixLayout& layout) {
  return ((layout.columns - 1) * static_cast<std::uint64_t>(layout.leading) + layout.rows) *
         element_bytes(static_cast<cudaDataType_t>(layout.type));
}

void multiply(const Problem& problem, float alpha, const std::byte* a, const std::byte* b,
              float beta, const std::byte* c, std::byte* d) {
  const bool tf32 = problem.precision == Precision::tf32;
  const auto left = loaded(a, problem.a, problem.desc.transpose_a != CUBLAS_OP_N, tf32);
  const auto right = loaded(b, problem.b, problem.desc.transpose_b != CUBLAS_OP_N, tf32);
  const auto type = static_cast<cudaDataType_t>(problem.d.type);
  const std::size_t size = element_bytes(type);
  std::vector<float> sums(problem.m);
  for (std::uint64_t column = 0; column < problem.n; ++column) {
    std::fill(sums.begin(), sums.end(), 0.0F);
    for (std::uint64_t i = 0; i < problem.k; ++i) {
      add_scaled(sums.data(), left.data() + i * problem.m, right[column * problem.k + i],
                 problem.m);
    }
    const auto column_of_c = column * static_cast<std::uint64_t>(problem.c.leading) * size;
    const auto column_of_d = column * static_cast<std::uint64_t>(problem.d.leading) * size;
    for (std::uint64_t row = 0; row < problem.m; ++row) {
      const float before = beta == 0 ? 0 : beta * element(c + column_of_c + row * size, type);
      put(d + column_of_d + row * size, type, alpha * sums[row] + before);
    }
  }
}

}  // namespace gpu_sim
