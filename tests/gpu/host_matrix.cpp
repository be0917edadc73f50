#include "tests/gpu/host_matrix.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <thread>

namespace fleetbench::gpu {
namespace {

// Sign, then so many bits of exponent and mantissa.
struct Format {
  std::size_t bytes;
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;  // else the largest exponent is for numbers, and all ones are none
};

Format format_of(cudaDataType_t type) {
  switch (type) {
    case CUDA_R_32F:
      return {4, 8, 23, true};
    case CUDA_R_16F:
      return {2, 5, 10, true};
    case CUDA_R_16BF:
      return {2, 8, 7, true};
    case CUDA_R_8F_E4M3:
      return {1, 4, 3, false};
    default:
      throw std::invalid_argument("no format of matrices: " + std::to_string(type));
  }
}

// IEEE 754; e4m3 as in P. Micikevicius et al., "FP8 formats for deep learning", 2022.
double value_of(std::uint32_t bits, const Format& format) {
  const std::uint32_t mantissa = bits & ((1U << format.mantissa_bits) - 1);
  const std::uint32_t highest = (1U << format.exponent_bits) - 1;
  const std::uint32_t exponent = bits >> format.mantissa_bits & highest;
  const bool negative = (bits >> (format.mantissa_bits + format.exponent_bits) & 1U) != 0;
  const int bias = static_cast<int>(highest >> 1U);
  double value = 0;
  if (exponent == highest && format.has_infinity) {
    value = mantissa == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == highest && mantissa == (1U << format.mantissa_bits) - 1) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, 1 - bias - format.mantissa_bits);
  } else {
    value = std::ldexp((1U << format.mantissa_bits) + mantissa,
                       static_cast<int>(exponent) - bias - format.mantissa_bits);
  }
  return negative ? -value : value;
}

// Four sums at a time, as one waits for itself.
double dot(std::span<const double> x, std::span<const double> y) {
  constexpr std::size_t kSums = 4;
  double sums[kSums]{};
  std::size_t i = 0;
  for (; i + kSums <= x.size(); i += kSums) {
    for (std::size_t j = 0; j < kSums; ++j) {
      sums[j] += x[i + j] * y[i + j];
    }
  }
  for (; i < x.size(); ++i) {
    sums[0] += x[i] * y[i];
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

HostMatrix::HostMatrix(int n, cudaDataType_t type, std::span<const std::byte> bytes)
    : HostMatrix(n) {
  static_assert(std::endian::native == std::endian::little, "as GPUs write numbers");
  const Format format = format_of(type);
  if (bytes.size() != elements_.size() * format.bytes) {
    throw std::invalid_argument("a matrix of " + std::to_string(n) + " columns has other bytes");
  }
  for (std::size_t i = 0; i < elements_.size(); ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * format.bytes, format.bytes);
    elements_[i] = value_of(bits, format);
  }
}

HostMatrix transposed_product(const HostMatrix& a, const HostMatrix& b) {
  HostMatrix product(static_cast<int>(a.n()));
  const std::size_t teams = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::jthread> threads;
  for (std::size_t mine = 0; mine < teams; ++mine) {
    threads.emplace_back([&, mine] {
      for (std::size_t column = mine; column < b.n(); column += teams) {
        for (std::size_t row = 0; row < a.n(); ++row) {
          product.at(row, column) = dot(a.column(row), b.column(column));
        }
      }
    });
  }
  threads.clear();  // joins them
  return product;
}

std::vector<double> column_norms(const HostMatrix& matrix) {
  std::vector<double> norms;
  for (std::size_t c = 0; c < matrix.n(); ++c) {
    norms.push_back(std::sqrt(dot(matrix.column(c), matrix.column(c))));
  }
  return norms;
}

}  // namespace fleetbench::gpu
