#include "probes/gpu/pattern.hpp"

#include <algorithm>
#include <cstring>

namespace fleetbench::gpu {
namespace {

constexpr int kBlocksOfMultiprocessor = 8;

std::uint64_t words(std::size_t bytes) { return bytes / sizeof(std::uint32_t); }

}  // namespace

Grid full_grid(const GpuInfo& info) {
  return {.blocks = std::max(1, info.multiprocessors) * kBlocksOfMultiprocessor};
}

std::uint64_t checksum_on_host(std::span<const std::byte> data) {
  constexpr std::uint32_t kSeed = 0x5EED;
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < words(data.size()); ++i) {
    std::uint32_t word = 0;
    std::memcpy(&word, data.data() + i * sizeof word, sizeof word);
    sum += static_cast<std::uint64_t>(mixed(kSeed, i) | 1U) * word;
  }
  return sum;
}

Pattern::Pattern(const Gpu& gpu)
    : gpu_(gpu), grid_(full_grid(gpu.info())), stream_(gpu), count_(gpu, sizeof(std::uint64_t)) {}

void Pattern::fill(void* data, std::size_t bytes, std::uint32_t seed) {
  gpu_.check(launch_fill(data, words(bytes), seed, grid_, stream_.get()),
             "launch of fleetbench_fill");
  gpu_.check(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize after fleetbench_fill");
}

std::uint64_t Pattern::wrong_words(const void* data, std::size_t bytes, std::uint32_t seed) {
  gpu_.check(cudaMemsetAsync(count_.get(), 0, count_.bytes(), stream_.get()), "cudaMemsetAsync");
  gpu_.check(
      launch_check(data, words(bytes), seed, count_.as<unsigned long long>(), grid_, stream_.get()),
      "launch of fleetbench_check");
  return counted();
}

std::uint64_t Pattern::checksum(const void* data, std::size_t bytes) {
  gpu_.check(cudaMemsetAsync(count_.get(), 0, count_.bytes(), stream_.get()), "cudaMemsetAsync");
  gpu_.check(
      launch_checksum(data, words(bytes), count_.as<unsigned long long>(), grid_, stream_.get()),
      "launch of fleetbench_checksum");
  return counted();
}

std::uint64_t Pattern::counted() {
  gpu_.check(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize after a check");
  std::uint64_t count = 0;
  gpu_.check(cudaMemcpy(&count, count_.get(), sizeof count, cudaMemcpyDeviceToHost), "cudaMemcpy");
  return count;
}

}  // namespace fleetbench::gpu
