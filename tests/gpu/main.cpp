// gpu_product_check UUID N…: checks N × N products on one GPU in every precision that it has, and
// prints a line of JSON for each; see product_check.hpp. Exit code 0: all printed; 1: no such GPU,
// said on standard error; 64: wrong arguments.
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <optional>
#include <vector>

#include "probes/support/serve.hpp"
#include "tests/gpu/product_check.hpp"

namespace fleetbench::gpu {
namespace {

constexpr int kFinest = 16;  // fp8 demands multiples of it
constexpr int kLargest = 16384;

std::optional<std::vector<int>> sizes_of(int argc, char** argv) {
  std::vector<int> sizes;
  for (int i = 2; i < argc; ++i) {
    const char* end = argv[i] + std::strlen(argv[i]);
    int n = 0;
    const auto read = std::from_chars(argv[i], end, n);
    if (read.ec != std::errc() || read.ptr != end || n < kFinest || n > kLargest ||
        n % kFinest != 0) {
      return std::nullopt;
    }
    sizes.push_back(n);
  }
  return sizes.empty() ? std::nullopt : std::optional(sizes);
}

void check_all(const Gpu& gpu, const std::vector<int>& sizes) {
  gpu.select();
  for (const Precision& precision : kPrecisions) {
    if (!has(gpu.info(), precision)) {
      continue;
    }
    for (const int n : sizes) {
      fmt::print("{}\n", check_product(gpu, precision, n).dump());
      std::fflush(stdout);
    }
  }
}

}  // namespace
}  // namespace fleetbench::gpu

int main(int argc, char** argv) {
  const auto sizes = fleetbench::gpu::sizes_of(argc, argv);
  if (!sizes) {
    fmt::print(stderr,
               "usage: gpu_product_check UUID N...   (N: a multiple of 16 from 16 to 16384)\n");
    return 64;
  }
  fleetbench::bind_to_parent(getppid());
  try {
    fleetbench::gpu::check_all(fleetbench::gpu::gpu_by_uuid(argv[1]), *sizes);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
