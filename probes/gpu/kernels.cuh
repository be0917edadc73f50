// The kernels, for code that nvcc compiles; others launch them by kernels.hpp. Each but the first
// takes any grid of blocks of a multiple of 32 threads.
#pragma once

#include "probes/gpu/kernels.hpp"

extern "C" {

__global__ void fleetbench_wait(const volatile unsigned* latch, std::uint64_t longest_ns,
                                volatile unsigned* gave_up);
__global__ void fleetbench_fill(std::uint32_t* data, std::uint64_t count, std::uint32_t seed);
__global__ void fleetbench_check(const std::uint32_t* data, std::uint64_t count, std::uint32_t seed,
                                 unsigned long long* wrong);
__global__ void fleetbench_checksum(const std::uint32_t* data, std::uint64_t count,
                                    unsigned long long* sum);
__global__ void fleetbench_repeat(std::uint32_t* data, std::uint64_t count,
                                  const std::uint32_t* list, std::uint32_t length,
                                  std::uint64_t first);
__global__ void fleetbench_check_repeat(const std::uint32_t* data, std::uint64_t count,
                                        const std::uint32_t* list, std::uint32_t length,
                                        std::uint64_t first, unsigned long long* wrong);
__global__ void fleetbench_read(const uint4* a, std::uint64_t count, std::uint32_t* sink);
__global__ void fleetbench_write(uint4* a, std::uint64_t count, std::uint32_t value);
__global__ void fleetbench_copy(uint4* to, const uint4* from, std::uint64_t count);
__global__ void fleetbench_triad(float4* a, const float4* b, const float4* c, float factor,
                                 std::uint64_t count);
__global__ void fleetbench_random_matrix(void* data, std::uint64_t count, int type,
                                         std::uint32_t seed);
__global__ void fleetbench_integer_matrix(void* data, std::uint64_t count, int type,
                                          std::uint32_t seed);

}  // extern "C"
