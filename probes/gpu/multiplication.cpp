#include "probes/gpu/multiplication.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "probes/gpu/exact_product.hpp"
#include "probes/probe.hpp"

namespace fleetbench::gpu {
namespace {

// They differ in bits that no position reaches, or one matrix would be the other in another order.
constexpr std::uint32_t kSeedA = 0xA0000000;
constexpr std::uint32_t kSeedB = 0x50000000;

}  // namespace

bool RightProducts::holds(std::string_view precision, int n, std::uint64_t checksum) const {
  const auto found = checksums_.find({std::string(precision), n});
  return found != checksums_.end() && found->second == checksum;
}

bool RightProducts::knows(std::string_view precision, int n) const {
  return checksums_.contains({std::string(precision), n});
}

void RightProducts::add(std::string_view precision, int n, std::uint64_t checksum) {
  checksums_[{std::string(precision), n}] = checksum;
}

Multiplication::Multiplication(const Gpu& gpu, const Precision& precision, int n,
                               RightProducts& right)
    : gpu_(gpu),
      precision_(precision),
      n_(n),
      right_(right),
      grid_(full_grid(gpu.info())),
      pattern_(gpu),
      matmul_(gpu, precision, n),
      a_(gpu, elements() * precision.element_bytes),
      b_(gpu, elements() * precision.element_bytes),
      d_(gpu, elements() * precision.output_bytes),
      stream_(gpu),
      begin_(gpu),
      end_(gpu) {}

std::uint64_t Multiplication::elements() const {
  return static_cast<std::uint64_t>(n_) * static_cast<std::uint64_t>(n_);
}

Algorithm Multiplication::fastest() {
  fill_random();
  double best_s = std::numeric_limits<double>::infinity();
  std::optional<Algorithm> best;
  for (const Algorithm& algorithm : matmul_.candidates()) {
    matmul_.use(algorithm);
    time(1);  // warm
    const double taken_s = std::min(time(1), time(1));
    if (taken_s < best_s) {
      best_s = taken_s;
      best = algorithm;
    }
  }
  return best.value();
}

void Multiplication::fill_random() {
  for (const auto& [matrix, seed] : {std::pair(&a_, kSeedA), std::pair(&b_, kSeedB)}) {
    gpu_.check(launch_random_matrix(matrix->get(), elements(), precision_.element, seed, grid_,
                                    stream_.get()),
               "launch of fleetbench_random_matrix");
  }
}

void Multiplication::fill_integers() {
  for (const auto& [matrix, seed] : {std::pair(&a_, kSeedA), std::pair(&b_, kSeedB)}) {
    gpu_.check(launch_integer_matrix(matrix->get(), elements(), precision_.element, seed, grid_,
                                     stream_.get()),
               "launch of fleetbench_integer_matrix");
  }
}

std::uint64_t Multiplication::integer_product() {
  fill_integers();
  // A product that is never written must not pass for the one before.
  gpu_.check(cudaMemsetAsync(d_.get(), 0xFF, d_.bytes(), stream_.get()), "cudaMemsetAsync");
  time(1);
  return pattern_.checksum(d_.get(), d_.bytes());
}

void Multiplication::check() {
  const auto checksum = integer_product();
  if (right_.holds(precision_.name, n_, checksum)) {
    return;
  }
  if (right_.knows(precision_.name, n_)) {
    complain("differs from one that was right before");
  }
  std::vector<std::byte> product(d_.bytes());
  gpu_.check(cudaMemcpy(product.data(), d_.get(), d_.bytes(), cudaMemcpyDeviceToHost),
             "cudaMemcpy");
  if (const auto row = first_false_row(precision_, product, n_, kSeedA, kSeedB)) {
    const bool by_copy = checksum_on_host(product) != checksum;
    complain(fmt::format("is false in row {}{}", *row,
                         by_copy ? ", though not before it was copied to the host," : ""));
  }
  right_.add(precision_.name, n_, checksum);
}

double Multiplication::time(std::int64_t count) {
  gpu_.check(cudaEventRecord(begin_.get(), stream_.get()), "cudaEventRecord");
  for (std::int64_t i = 0; i < count; ++i) {
    matmul_.queue(a_.get(), b_.get(), d_.get(), stream_.get());
  }
  gpu_.check(cudaEventRecord(end_.get(), stream_.get()), "cudaEventRecord");
  gpu_.check(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize after cublasLtMatmul");
  return seconds_between(gpu_, begin_, end_);
}

void Multiplication::complain(const std::string& what) const {
  throw WrongResult(
      fmt::format("{} product of {}x{} matrices of small integers {} on {} ({}): it computes wrong "
                  "results",
                  precision_.name, n_, n_, what, gpu_.label(), gpu_.info().name));
}

}  // namespace fleetbench::gpu
