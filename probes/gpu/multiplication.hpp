// The matrices and the multiplication of one precision on one GPU.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "probes/gpu/handles.hpp"
#include "probes/gpu/matmul.hpp"
#include "probes/gpu/pattern.hpp"
#include "probes/gpu/precision.hpp"

namespace fleetbench::gpu {

// Checksums of products that the host found right, so that it does so once in a process.
class RightProducts {
 public:
  bool holds(std::string_view precision, int n, std::uint64_t checksum) const;
  bool knows(std::string_view precision, int n) const;
  void add(std::string_view precision, int n, std::uint64_t checksum);

 private:
  std::map<std::pair<std::string, int>, std::uint64_t> checksums_;
};

// Throws CudaError, and what Matmul throws. `precision` and `right` must outlive it.
class Multiplication {
 public:
  Multiplication(const Gpu& gpu, const Precision& precision, int n, RightProducts& right);

  const Precision& precision() const { return precision_; }

  // The fastest of what cuBLASLt offers here, tried on random data.
  Algorithm fastest();
  void use(const Algorithm& algorithm) { matmul_.use(algorithm); }

  // Precondition of the rest: use().
  void fill_random();
  // Throws WrongResult where the product of small integers is false: the first by what the host
  // says, those after it by a checksum that must stay the same. The matrices are others then.
  void check();
  // Seconds of so many multiplications one after the other.
  double time(std::int64_t count);

 private:
  std::uint64_t elements() const;
  void fill_integers();
  std::uint64_t integer_product();
  [[noreturn]] void complain(const std::string& what) const;

  const Gpu& gpu_;
  const Precision& precision_;
  int n_;
  RightProducts& right_;
  Grid grid_;
  Pattern pattern_;
  Matmul matmul_;
  DeviceMemory a_;
  DeviceMemory b_;
  DeviceMemory d_;
  Stream stream_;
  Event begin_;
  Event end_;
};

}  // namespace fleetbench::gpu
