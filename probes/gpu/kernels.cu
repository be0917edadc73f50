// All that runs on a GPU beside what cuBLASLt brings. The loops stride over the whole grid.
#include "probes/gpu/kernels.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

using fleetbench::gpu::ElementType;
using fleetbench::gpu::mixed;
using fleetbench::gpu::small_integer;

namespace {

__device__ std::uint64_t first() {
  return static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::uint64_t stride() { return static_cast<std::uint64_t>(gridDim.x) * blockDim.x; }

__device__ std::uint64_t now_ns() {
  std::uint64_t time = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

__device__ void store(void* data, std::uint64_t i, int type, float value) {
  switch (static_cast<ElementType>(type)) {
    case ElementType::fp32:
      static_cast<float*>(data)[i] = value;
      break;
    case ElementType::fp16:
      static_cast<__half*>(data)[i] = __float2half_rn(value);
      break;
    case ElementType::bf16:
      static_cast<__nv_bfloat16*>(data)[i] = __float2bfloat16_rn(value);
      break;
    case ElementType::e4m3:
      static_cast<__nv_fp8_e4m3*>(data)[i] = __nv_fp8_e4m3(value);
      break;
  }
}

// One addition for each warp. Blocks are whole warps.
__device__ void add(unsigned long long* total, unsigned long long part) {
  for (int distance = warpSize / 2; distance > 0; distance /= 2) {
    part += __shfl_down_sync(0xFFFFFFFFU, part, distance);
  }
  if (threadIdx.x % warpSize == 0) {
    atomicAdd(total, part);
  }
}

}  // namespace

extern "C" {

// One thread.
__global__ void fleetbench_wait(const volatile unsigned* latch, std::uint64_t longest_ns,
                                volatile unsigned* gave_up) {
  const std::uint64_t begin = now_ns();
  while (*latch == 0) {
    if (now_ns() - begin > longest_ns) {
      *gave_up = 1;
      return;
    }
  }
}

__global__ void fleetbench_fill(std::uint32_t* data, std::uint64_t count, std::uint32_t seed) {
  for (std::uint64_t i = first(); i < count; i += stride()) {
    data[i] = mixed(seed, i);
  }
}

__global__ void fleetbench_check(const std::uint32_t* data, std::uint64_t count, std::uint32_t seed,
                                 unsigned long long* wrong) {
  unsigned long long mine = 0;
  for (std::uint64_t i = first(); i < count; i += stride()) {
    mine += data[i] != mixed(seed, i) ? 1U : 0U;
  }
  add(wrong, mine);
}

__global__ void fleetbench_repeat(std::uint32_t* data, std::uint64_t count,
                                  const std::uint32_t* list, std::uint32_t length,
                                  std::uint64_t first_of_list) {
  for (std::uint64_t i = first(); i < count; i += stride()) {
    data[i] = list[(first_of_list + i) % length];
  }
}

__global__ void fleetbench_check_repeat(const std::uint32_t* data, std::uint64_t count,
                                        const std::uint32_t* list, std::uint32_t length,
                                        std::uint64_t first_of_list, unsigned long long* wrong) {
  unsigned long long mine = 0;
  for (std::uint64_t i = first(); i < count; i += stride()) {
    if (data[i] != list[(first_of_list + i) % length]) {
      ++mine;
      atomicMin(wrong + 1, static_cast<unsigned long long>(i));
    }
  }
  add(wrong, mine);
}

__global__ void fleetbench_read(const uint4* a, std::uint64_t count, std::uint32_t* sink) {
  std::uint32_t all = 0;
  for (std::uint64_t i = first(); i < count; i += stride()) {
    const uint4 v = a[i];
    all ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  if (all == 0xFFFFFFFFU) {
    *sink = all;
  }
}

__global__ void fleetbench_write(uint4* a, std::uint64_t count, std::uint32_t value) {
  for (std::uint64_t i = first(); i < count; i += stride()) {
    a[i] = make_uint4(value, value, value, value);
  }
}

__global__ void fleetbench_copy(uint4* to, const uint4* from, std::uint64_t count) {
  for (std::uint64_t i = first(); i < count; i += stride()) {
    to[i] = from[i];
  }
}

__global__ void fleetbench_triad(float4* a, const float4* b, const float4* c, float factor,
                                 std::uint64_t count) {
  for (std::uint64_t i = first(); i < count; i += stride()) {
    const float4 x = b[i];
    const float4 y = c[i];
    a[i] =
        make_float4(x.x + factor * y.x, x.y + factor * y.y, x.z + factor * y.z, x.w + factor * y.w);
  }
}

__global__ void fleetbench_random_matrix(void* data, std::uint64_t count, int type,
                                         std::uint32_t seed) {
  for (std::uint64_t i = first(); i < count; i += stride()) {
    store(data, i, type, static_cast<float>(mixed(seed, i) >> 8U) * 0x1p-23F - 1.0F);
  }
}

__global__ void fleetbench_integer_matrix(void* data, std::uint64_t count, int type,
                                          std::uint32_t seed) {
  for (std::uint64_t i = first(); i < count; i += stride()) {
    store(data, i, type, static_cast<float>(small_integer(seed, i)));
  }
}

__global__ void fleetbench_checksum(const std::uint32_t* data, std::uint64_t count,
                                    unsigned long long* sum) {
  unsigned long long mine = 0;
  for (std::uint64_t i = first(); i < count; i += stride()) {
    mine += static_cast<unsigned long long>(mixed(0x5EEDU, i) | 1U) * data[i];
  }
  add(sum, mine);
}

}  // extern "C"

namespace fleetbench::gpu {

cudaError_t launch_wait(const unsigned* latch, std::uint64_t longest_ns, unsigned* gave_up,
                        cudaStream_t stream) {
  fleetbench_wait<<<1, 1, 0, stream>>>(latch, longest_ns, gave_up);
  return cudaGetLastError();
}

cudaError_t launch_fill(void* data, std::uint64_t count, std::uint32_t seed, Grid grid,
                        cudaStream_t stream) {
  fleetbench_fill<<<grid.blocks, grid.threads, 0, stream>>>(static_cast<std::uint32_t*>(data),
                                                            count, seed);
  return cudaGetLastError();
}

cudaError_t launch_check(const void* data, std::uint64_t count, std::uint32_t seed,
                         unsigned long long* wrong, Grid grid, cudaStream_t stream) {
  fleetbench_check<<<grid.blocks, grid.threads, 0, stream>>>(
      static_cast<const std::uint32_t*>(data), count, seed, wrong);
  return cudaGetLastError();
}

cudaError_t launch_checksum(const void* data, std::uint64_t count, unsigned long long* sum,
                            Grid grid, cudaStream_t stream) {
  fleetbench_checksum<<<grid.blocks, grid.threads, 0, stream>>>(
      static_cast<const std::uint32_t*>(data), count, sum);
  return cudaGetLastError();
}

cudaError_t launch_repeat(void* data, std::uint64_t count, const void* list, std::uint32_t length,
                          std::uint64_t first, Grid grid, cudaStream_t stream) {
  fleetbench_repeat<<<grid.blocks, grid.threads, 0, stream>>>(
      static_cast<std::uint32_t*>(data), count, static_cast<const std::uint32_t*>(list), length,
      first);
  return cudaGetLastError();
}

cudaError_t launch_check_repeat(const void* data, std::uint64_t count, const void* list,
                                std::uint32_t length, std::uint64_t first,
                                unsigned long long* wrong, Grid grid, cudaStream_t stream) {
  fleetbench_check_repeat<<<grid.blocks, grid.threads, 0, stream>>>(
      static_cast<const std::uint32_t*>(data), count, static_cast<const std::uint32_t*>(list),
      length, first, wrong);
  return cudaGetLastError();
}

cudaError_t launch_read(const void* a, std::uint64_t count, std::uint32_t* sink, Grid grid,
                        cudaStream_t stream) {
  fleetbench_read<<<grid.blocks, grid.threads, 0, stream>>>(static_cast<const uint4*>(a), count,
                                                            sink);
  return cudaGetLastError();
}

cudaError_t launch_write(void* a, std::uint64_t count, std::uint32_t value, Grid grid,
                         cudaStream_t stream) {
  fleetbench_write<<<grid.blocks, grid.threads, 0, stream>>>(static_cast<uint4*>(a), count, value);
  return cudaGetLastError();
}

cudaError_t launch_copy(void* to, const void* from, std::uint64_t count, Grid grid,
                        cudaStream_t stream) {
  fleetbench_copy<<<grid.blocks, grid.threads, 0, stream>>>(static_cast<uint4*>(to),
                                                            static_cast<const uint4*>(from), count);
  return cudaGetLastError();
}

cudaError_t launch_triad(void* a, const void* b, const void* c, float factor, std::uint64_t count,
                         Grid grid, cudaStream_t stream) {
  fleetbench_triad<<<grid.blocks, grid.threads, 0, stream>>>(
      static_cast<float4*>(a), static_cast<const float4*>(b), static_cast<const float4*>(c), factor,
      count);
  return cudaGetLastError();
}

cudaError_t launch_random_matrix(void* data, std::uint64_t count, ElementType type,
                                 std::uint32_t seed, Grid grid, cudaStream_t stream) {
  fleetbench_random_matrix<<<grid.blocks, grid.threads, 0, stream>>>(data, count,
                                                                     static_cast<int>(type), seed);
  return cudaGetLastError();
}

cudaError_t launch_integer_matrix(void* data, std::uint64_t count, ElementType type,
                                  std::uint32_t seed, Grid grid, cudaStream_t stream) {
  fleetbench_integer_matrix<<<grid.blocks, grid.threads, 0, stream>>>(data, count,
                                                                      static_cast<int>(type), seed);
  return cudaGetLastError();
}

}  // namespace fleetbench::gpu
