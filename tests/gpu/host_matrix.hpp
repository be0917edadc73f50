// Matrices on the host in fp64, and their product. Reads number formats by itself: what it shared
// with the probes could be wrong in both alike.
#pragma once

#include <library_types.h>

#include <cstddef>
#include <span>
#include <vector>

namespace fleetbench::gpu {

// n × n, in columns.
class HostMatrix {
 public:
  explicit HostMatrix(int n) : n_(static_cast<std::size_t>(n)), elements_(n_ * n_) {}
  // `bytes` as the GPU holds n × n elements of `type`: fp32, fp16, bf16 or e4m3. Throws
  // std::invalid_argument.
  HostMatrix(int n, cudaDataType_t type, std::span<const std::byte> bytes);

  std::size_t n() const { return n_; }
  double& at(std::size_t row, std::size_t column) { return elements_[column * n_ + row]; }
  double at(std::size_t row, std::size_t column) const { return elements_[column * n_ + row]; }
  std::span<const double> column(std::size_t c) const {
    return std::span(elements_).subspan(c * n_, n_);
  }

 private:
  std::size_t n_;
  std::vector<double> elements_;
};

// Aᵀ·B, on all cores. Its own error is 2^-29 times that of a sum in fp32.
HostMatrix transposed_product(const HostMatrix& a, const HostMatrix& b);

// The Euclidean length of each column.
std::vector<double> column_norms(const HostMatrix& matrix);

}  // namespace fleetbench::gpu
