#include "tests/gpu_sim/test/launch.hpp"

#include "probes/gpu/kernels.cuh"

namespace {

constexpr unsigned kBlocks = 264;
constexpr unsigned kThreads = 256;

__global__ void without_twin() {}

}  // namespace

namespace gpu_sim_test {

std::uint32_t mixed_word(std::uint32_t seed, std::uint64_t position) {
  return fleetbench::gpu::mixed(seed, position);
}

void launch_wait(const std::uint32_t* latch, std::uint64_t longest_ns, std::uint32_t* gave_up,
                 cudaStream_t stream) {
  fleetbench_wait<<<1, 1, 0, stream>>>(latch, longest_ns, gave_up);
}

void launch_fill(std::uint32_t* data, std::uint64_t count, std::uint32_t seed,
                 cudaStream_t stream) {
  fleetbench_fill<<<kBlocks, kThreads, 0, stream>>>(data, count, seed);
}

void launch_check(const std::uint32_t* data, std::uint64_t count, std::uint32_t seed,
                  unsigned long long* wrong, cudaStream_t stream) {
  fleetbench_check<<<kBlocks, kThreads, 0, stream>>>(data, count, seed, wrong);
}

void launch_read(const void* data, std::uint64_t count, std::uint32_t* sink, cudaStream_t stream) {
  fleetbench_read<<<kBlocks, kThreads, 0, stream>>>(static_cast<const uint4*>(data), count, sink);
}

void launch_write(void* data, std::uint64_t count, std::uint32_t value, cudaStream_t stream) {
  fleetbench_write<<<kBlocks, kThreads, 0, stream>>>(static_cast<uint4*>(data), count, value);
}

void launch_copy(void* to, const void* from, std::uint64_t count, cudaStream_t stream) {
  fleetbench_copy<<<kBlocks, kThreads, 0, stream>>>(static_cast<uint4*>(to),
                                                    static_cast<const uint4*>(from), count);
}

void launch_triad(void* a, const void* b, const void* c, float factor, std::uint64_t count,
                  cudaStream_t stream) {
  fleetbench_triad<<<kBlocks, kThreads, 0, stream>>>(static_cast<float4*>(a),
                                                     static_cast<const float4*>(b),
                                                     static_cast<const float4*>(c), factor, count);
}

void launch_random_matrix(void* data, std::uint64_t count, int type, std::uint32_t seed,
                          cudaStream_t stream) {
  fleetbench_random_matrix<<<kBlocks, kThreads, 0, stream>>>(data, count, type, seed);
}

void launch_integer_matrix(void* data, std::uint64_t count, int type, std::uint32_t seed,
                           cudaStream_t stream) {
  fleetbench_integer_matrix<<<kBlocks, kThreads, 0, stream>>>(data, count, type, seed);
}

void launch_checksum(const std::uint32_t* data, std::uint64_t count, unsigned long long* sum,
                     cudaStream_t stream) {
  fleetbench_checksum<<<kBlocks, kThreads, 0, stream>>>(data, count, sum);
}

void launch_repeat(std::uint32_t* data, std::uint64_t count, const std::uint32_t* list,
                   std::uint32_t length, std::uint64_t first, cudaStream_t stream) {
  fleetbench_repeat<<<kBlocks, kThreads, 0, stream>>>(data, count, list, length, first);
}

void launch_check_repeat(const std::uint32_t* data, std::uint64_t count, const std::uint32_t* list,
                         std::uint32_t length, std::uint64_t first, unsigned long long* wrong,
                         cudaStream_t stream) {
  fleetbench_check_repeat<<<kBlocks, kThreads, 0, stream>>>(data, count, list, length, first,
                                                            wrong);
}

void launch_fill_with(unsigned blocks, unsigned threads, std::uint32_t* data, cudaStream_t stream) {
  fleetbench_fill<<<blocks, threads, 0, stream>>>(data, 1, 1);
}

void launch_without_twin(cudaStream_t stream) { without_twin<<<1, 1, 0, stream>>>(); }

const void* fill_kernel() { return reinterpret_cast<const void*>(fleetbench_fill); }

}  // namespace gpu_sim_test
