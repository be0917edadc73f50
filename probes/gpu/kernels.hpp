// Launches of the kernels in kernels.cu, for code that the host's compiler translates. Each returns
// what the launch returned; the kernels run later, in the order of their stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace fleetbench::gpu {

// Element types of matrices.
enum class ElementType : int { fp32 = 0, fp16 = 1, bf16 = 2, e4m3 = 3 };

// A 32-bit number from a seed and a position: the finaliser of MurmurHash3 (A. Appleby) over their
// mix. The same on host and GPU, so that either may check what the other wrote.
#ifdef __CUDACC__
__host__ __device__
#endif
    inline std::uint32_t
    mixed(std::uint32_t seed, std::uint64_t position) {
  std::uint32_t h = seed ^ static_cast<std::uint32_t>(position) ^
                    static_cast<std::uint32_t>(position >> 32U) * 0x9E3779B9U;
  h ^= h >> 16U;
  h *= 0x85EBCA6BU;
  h ^= h >> 13U;
  h *= 0xC2B2AE35U;
  return h ^ h >> 16U;
}

// -1, 0 or 1, a quarter of them not 0. Rows times columns of as many as 16,384 of them have a
// standard deviation of 32, so that every sum is exact in bf16 too, which counts to 256.
#ifdef __CUDACC__
__host__ __device__
#endif
    inline int
    small_integer(std::uint32_t seed, std::uint64_t position) {
  const std::uint32_t h = mixed(seed, position) % 8U;
  return h == 0 ? -1 : h == 1 ? 1 : 0;
}

// How many blocks of how many threads the loops over memory run in.
struct Grid {
  int blocks = 1;
  int threads = 256;
};

// The stream stands still until the host writes something else than 0 to `latch` or `longest_ns`
// have gone by; then 1 is written to `gave_up`. Both: mapped memory of the host.
cudaError_t launch_wait(const unsigned* latch, std::uint64_t longest_ns, unsigned* gave_up,
                        cudaStream_t stream);
// Word i becomes mixed(seed, i). `count`: 32-bit words.
cudaError_t launch_fill(void* data, std::uint64_t count, std::uint32_t seed, Grid grid,
                        cudaStream_t stream);
// Adds to `wrong` how many words are not mixed(seed, i).
cudaError_t launch_check(const void* data, std::uint64_t count, std::uint32_t seed,
                         unsigned long long* wrong, Grid grid, cudaStream_t stream);
// Adds to `sum`, modulo 2^64, for each word i: (mixed(0x5EED, i) | 1) · word. Whoever adds first,
// it is the same.
cudaError_t launch_checksum(const void* data, std::uint64_t count, unsigned long long* sum,
                            Grid grid, cudaStream_t stream);

// Element i becomes list[(first + i) % length]. `count`, `length`: 32-bit words.
cudaError_t launch_repeat(void* data, std::uint64_t count, const void* list, std::uint32_t length,
                          std::uint64_t first, Grid grid, cudaStream_t stream);
// Adds to wrong[0] how many elements are not that, bit for bit; wrong[1] becomes the least of
// itself and their places.
cudaError_t launch_check_repeat(const void* data, std::uint64_t count, const void* list,
                                std::uint32_t length, std::uint64_t first,
                                unsigned long long* wrong, Grid grid, cudaStream_t stream);

// Memory bandwidth; `count`: vectors of 16 bytes. Read writes `sink` where the words of a thread
// xor to a value that they hardly ever have.
cudaError_t launch_read(const void* a, std::uint64_t count, std::uint32_t* sink, Grid grid,
                        cudaStream_t stream);
cudaError_t launch_write(void* a, std::uint64_t count, std::uint32_t value, Grid grid,
                         cudaStream_t stream);
cudaError_t launch_copy(void* to, const void* from, std::uint64_t count, Grid grid,
                        cudaStream_t stream);
// a = b + factor · c, in fp32
cudaError_t launch_triad(void* a, const void* b, const void* c, float factor, std::uint64_t count,
                         Grid grid, cudaStream_t stream);

// Element i becomes (mixed(seed, i) >> 8) · 2^-23 - 1, in [-1, 1), rounded. `count`: elements.
cudaError_t launch_random_matrix(void* data, std::uint64_t count, ElementType type,
                                 std::uint32_t seed, Grid grid, cudaStream_t stream);
// Element i becomes small_integer(seed, i).
cudaError_t launch_integer_matrix(void* data, std::uint64_t count, ElementType type,
                                  std::uint32_t seed, Grid grid, cudaStream_t stream);

}  // namespace fleetbench::gpu
