#include "tests/gpu/product_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "probes/gpu/exact_product.hpp"
#include "probes/gpu/handles.hpp"
#include "probes/gpu/kernels.hpp"
#include "probes/gpu/matmul.hpp"
#include "probes/gpu/pattern.hpp"
#include "probes/probe.hpp"
#include "tests/gpu/reference.hpp"

namespace fleetbench::gpu {
namespace {

constexpr std::uint32_t kSeedA = 0xA0000000;
constexpr std::uint32_t kSeedB = 0x50000000;

class Products {
 public:
  Products(const Gpu& gpu, const Precision& precision, int n)
      : gpu_(gpu),
        precision_(precision),
        n_(n),
        matmul_(gpu, precision, n),
        a_(gpu, elements() * precision.element_bytes),
        b_(gpu, elements() * precision.element_bytes),
        d_(gpu, elements() * precision.output_bytes),
        stream_(gpu) {}

  Json check() {
    const auto algorithms = matmul_.candidates();
    for (const Algorithm& algorithm : algorithms) {
      matmul_.use(algorithm);
      check_integers();
    }
    fill(launch_random_matrix);
    const Reference reference =
        reference_of(precision_.name, HostMatrix(n_, precision_.input, fetched(a_)),
                     HostMatrix(n_, precision_.input, fetched(b_)));
    double largest_error = 0;
    for (const Algorithm& algorithm : algorithms) {
      matmul_.use(algorithm);
      largest_error = std::max(largest_error, check_random(reference));
    }
    return {{"algorithms", algorithms.size()},
            {"largest_error", largest_error},
            {"bound", sharpness(reference)}};
  }

 private:
  using Fill = cudaError_t (*)(void*, std::uint64_t, ElementType, std::uint32_t, Grid,
                               cudaStream_t);

  std::size_t elements() const {
    return static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_);
  }

  void fill(Fill launch) {
    for (const auto& [matrix, seed] : {std::pair(&a_, kSeedA), std::pair(&b_, kSeedB)}) {
      gpu_.check(launch(matrix->get(), elements(), precision_.element, seed, full_grid(gpu_.info()),
                        stream_.get()),
                 "launch of a kernel that fills a matrix");
    }
    gpu_.check(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize after filling");
  }

  std::vector<std::byte> fetched(const DeviceMemory& memory) const {
    std::vector<std::byte> bytes(memory.bytes());
    gpu_.check(cudaMemcpy(bytes.data(), memory.get(), bytes.size(), cudaMemcpyDeviceToHost),
               "cudaMemcpy");
    return bytes;
  }

  std::vector<std::byte> multiplied() {
    // What is never written is not to pass for the product before: all ones are no number.
    gpu_.check(cudaMemsetAsync(d_.get(), 0xFF, d_.bytes(), stream_.get()), "cudaMemsetAsync");
    matmul_.queue(a_.get(), b_.get(), d_.get(), stream_.get());
    gpu_.check(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize after cublasLtMatmul");
    return fetched(d_);
  }

  void check_integers() {
    fill(launch_integer_matrix);
    if (const auto row = first_false_row(precision_, multiplied(), n_, kSeedA, kSeedB)) {
      throw WrongResult(fmt::format("a product of small integers is false in row {}", *row));
    }
  }

  // The largest error as a share of its bound.
  double check_random(const Reference& reference) {
    const HostMatrix found(n_, precision_.output, multiplied());
    const Farthest worst = farthest(found, reference);
    if (!(worst.error_of_bound <= 1)) {  // nor may it be no number
      throw WrongResult(fmt::format(
          "a product of random numbers is {:.9g} in row {}, column {}, and {:.9g} in fp64: the "
          "error may be {:.3g} at most",
          found.at(worst.row, worst.column), worst.row, worst.column,
          reference.exact.at(worst.row, worst.column),
          reference.bounds.at(worst.row, worst.column)));
    }
    return worst.error_of_bound;
  }

  const Gpu& gpu_;
  const Precision& precision_;
  int n_;
  Matmul matmul_;
  DeviceMemory a_;
  DeviceMemory b_;
  DeviceMemory d_;
  Stream stream_;
};

Json result(Status status, const char* reason) {
  return {{"status", to_string(status)}, {"reason", reason}};
}

Json outcome(const Gpu& gpu, const Precision& precision, int n) {
  try {
    Json checked = Products(gpu, precision, n).check();
    checked["status"] = to_string(Status::ok);
    return checked;
  } catch (const WrongResult& error) {
    return result(Status::wrong, error.what());
  } catch (const NotAvailable& error) {
    return result(Status::skipped, error.what());
  } catch (const std::runtime_error& error) {
    return result(Status::failed, error.what());
  }
}

}  // namespace

Json check_product(const Gpu& gpu, const Precision& precision, int n) {
  Json checked = outcome(gpu, precision, n);
  checked["precision"] = precision.name;
  checked["n"] = n;
  return checked;
}

}  // namespace fleetbench::gpu
