// Launches of fleetbench's kernels by nvcc's own code, so that tests reach them as a worker does.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace gpu_sim_test {

// mixed() of the kernels, on the host.
std::uint32_t mixed_word(std::uint32_t seed, std::uint64_t position);

void launch_wait(const std::uint32_t* latch, std::uint64_t longest_ns, std::uint32_t* gave_up,
                 cudaStream_t stream);
void launch_fill(std::uint32_t* data, std::uint64_t count, std::uint32_t seed, cudaStream_t stream);
void launch_check(const std::uint32_t* data, std::uint64_t count, std::uint32_t seed,
                  unsigned long long* wrong, cudaStream_t stream);
// Vectors of four words.
void launch_read(const void* data, std::uint64_t count, std::uint32_t* sink, cudaStream_t stream);
void launch_write(void* data, std::uint64_t count, std::uint32_t value, cudaStream_t stream);
void launch_copy(void* to, const void* from, std::uint64_t count, cudaStream_t stream);
void launch_triad(void* a, const void* b, const void* c, float factor, std::uint64_t count,
                  cudaStream_t stream);
void launch_random_matrix(void* data, std::uint64_t count, int type, std::uint32_t seed,
                          cudaStream_t stream);
void launch_integer_matrix(void* data, std::uint64_t count, int type, std::uint32_t seed,
                           cudaStream_t stream);
void launch_checksum(const std::uint32_t* data, std::uint64_t count, unsigned long long* sum,
                     cudaStream_t stream);
void launch_repeat(std::uint32_t* data, std::uint64_t count, const std::uint32_t* list,
                   std::uint32_t length, std::uint64_t first, cudaStream_t stream);
// wrong: how many, and the first of them.
void launch_check_repeat(const std::uint32_t* data, std::uint64_t count, const std::uint32_t* list,
                         std::uint32_t length, std::uint64_t first, unsigned long long* wrong,
                         cudaStream_t stream);

// fleetbench_fill in blocks of as many threads, which may be too many.
void launch_fill_with(unsigned blocks, unsigned threads, std::uint32_t* data, cudaStream_t stream);
// A kernel that the simulation has no twin of.
void launch_without_twin(cudaStream_t stream);
const void* fill_kernel();

}  // namespace gpu_sim_test
