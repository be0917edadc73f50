#include "probes/memory/memory_kernels.hpp"

#include <array>

// Else gcc makes a call of memcpy() of the copy. As an option of the compiler it would be in the
// way of tools that read those of this file.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif

namespace fleetbench::memory_kernels {

void copy(double* __restrict c, const double* __restrict a, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    c[i] = a[i];
  }
}

void triad(double* __restrict a, const double* __restrict b, const double* __restrict c,
           std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    a[i] = b[i] + kTriadFactor * c[i];
  }
}

// A compiler may not reorder one sum of doubles; kReadBlock of them side by side are vectors.
double read(const double* __restrict a, std::size_t count) {
  std::array<double, kReadBlock> sums{};
  for (std::size_t i = 0; i < count; i += kReadBlock) {
    for (std::size_t j = 0; j < kReadBlock; ++j) {
      sums[j] += a[i + j];
    }
  }
  double sum = 0;
  for (const double part : sums) {
    sum += part;
  }
  return sum;
}

}  // namespace fleetbench::memory_kernels
