#include "probes/gpu/exact_product.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "probes/gpu/kernels.hpp"

namespace fleetbench::gpu {
namespace {

// Unsigned: they wrap around without undefined results.
using Integers = std::vector<std::uint64_t>;

std::uint64_t wrapped(int value) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

// (M·r) of an integer matrix in columns.
Integers times(std::uint32_t seed, std::size_t n, const Integers& r) {
  Integers sums(n);
  for (std::size_t column = 0; column < n; ++column) {
    for (std::size_t row = 0; row < n; ++row) {
      sums[row] += wrapped(small_integer(seed, column * n + row)) * r[column];
    }
  }
  return sums;
}

// (Mᵀ·v)
Integers transposed_times(std::uint32_t seed, std::size_t n, const Integers& v) {
  Integers sums(n);
  for (std::size_t column = 0; column < n; ++column) {
    for (std::size_t row = 0; row < n; ++row) {
      sums[column] += wrapped(small_integer(seed, column * n + row)) * v[row];
    }
  }
  return sums;
}

float element(cudaDataType_t type, const std::byte* data, std::size_t i) {
  if (type == CUDA_R_32F) {
    float value = 0;
    std::memcpy(&value, data + i * sizeof value, sizeof value);
    return value;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, data + i * sizeof bits, sizeof bits);
  return type == CUDA_R_16F ? __half2float(__half(__half_raw{bits}))
                            : __bfloat162float(__nv_bfloat16(__nv_bfloat16_raw{bits}));
}

bool is_integer(float value) { return std::abs(value) < 0x1p24F && value == std::nearbyint(value); }

}  // namespace

std::optional<int> first_false_row(const Precision& precision, std::span<const std::byte> d, int n,
                                   std::uint32_t seed_a, std::uint32_t seed_b) {
  const auto size = static_cast<std::size_t>(n);
  std::mt19937_64 generator(11);
  Integers r(size);
  std::generate(r.begin(), r.end(), generator);
  const Integers expected = transposed_times(seed_a, size, times(seed_b, size, r));
  Integers sums(size);
  std::vector<bool> whole(size, true);
  for (std::size_t column = 0; column < size; ++column) {
    for (std::size_t row = 0; row < size; ++row) {
      const float value = element(precision.output, d.data(), column * size + row);
      if (!is_integer(value)) {
        whole[row] = false;
        continue;
      }
      sums[row] += wrapped(static_cast<int>(value)) * r[column];
    }
  }
  for (std::size_t row = 0; row < size; ++row) {
    if (!whole[row] || sums[row] != expected[row]) {
      return static_cast<int>(row);
    }
  }
  return std::nullopt;
}

}  // namespace fleetbench::gpu
