// What CUDA refuses, and with which error.
#include <cstdint>

#include "tests/gpu_sim/test/owners.hpp"

namespace gpu_sim_test {

namespace {

using Bytes = DeviceArray<std::byte>;

TEST(Refusals, CopiesOutOfRange) {
  const Bytes device(1000);
  std::vector<std::byte> host(2000);
  EXPECT_EQ(cudaMemcpy(device.get(), host.data(), 1001, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device.get() + 1, host.data(), 1000, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host.data(), device.get() + 1000, 1, cudaMemcpyDeviceToHost),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(device.get(), 0, 1001), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(host.data(), 0, 10), cudaErrorInvalidValue);
  const PinnedArray<std::byte> pinned(1000);
  EXPECT_EQ(cudaMemcpy(device.get(), pinned.get() + 10, 1000, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device.get(), host.data(), 1000, cudaMemcpyHostToDevice), cudaSuccess);
}

TEST(Refusals, WrongKindsOfPointers) {
  const Bytes device(1000);
  std::vector<std::byte> host(1000);
  EXPECT_EQ(cudaMemcpy(host.data(), device.get(), 10, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device.get(), host.data(), 10, cudaMemcpyDeviceToHost),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device.get(), host.data(), 10, cudaMemcpyDeviceToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device.get(), nullptr, 10, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device.get(), host.data(), 10, static_cast<cudaMemcpyKind>(7)),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpy(host.data(), device.get(), 10, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(cudaMemcpyPeerAsync(device.get(), 1, device.get(), 0, 10, nullptr),
            cudaErrorInvalidValue);
}

TEST(Refusals, MemoryThatIsGone) {
  void* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 100), cudaSuccess);
  std::vector<std::byte> host(100);
  EXPECT_EQ(cudaFree(static_cast<std::byte*>(device) + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(host.data()), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device, host.data(), 100, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(host.data()), cudaErrorInvalidValue);
}

TEST(Refusals, HostMemoryRegisteredTwiceOrNever) {
  std::vector<std::byte> host(1 << 16);
  void* device = nullptr;
  EXPECT_EQ(cudaHostGetDevicePointer(&device, host.data(), 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostRegister(host.data(), host.size(), cudaHostRegisterDefault), cudaSuccess);
  EXPECT_EQ(cudaHostRegister(host.data() + 10, 10, 0), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(cudaHostGetDevicePointer(&device, host.data(), 0), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(host.data()), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(host.data()), cudaErrorHostMemoryNotRegistered);
}

TEST(Refusals, MoreMemoryThanThereIs) {
  void* device = nullptr;
  std::size_t free = 0;
  std::size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_EQ(total, std::size_t{80} << 30);
  EXPECT_EQ(cudaMalloc(&device, free + 1), cudaErrorMemoryAllocation);
  // As much as there is costs nothing until it is touched.
  EXPECT_EQ(cudaMalloc(&device, free), cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
}

TEST(Refusals, MemoryThatWasGivenBackIsThereAgain) {
  // More in all than there are addresses for.
  const std::size_t bytes = std::size_t{64} << 30;
  for (int i = 0; i < 300; ++i) {
    void* device = nullptr;
    ASSERT_EQ(cudaMalloc(&device, bytes), cudaSuccess) << i;
    ASSERT_EQ(cudaFree(device), cudaSuccess);
  }
}

TEST(Refusals, StreamsAndEventsThatAreNone) {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventDestroy(event), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(event, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamCreateWithFlags(&stream, 8), cudaErrorInvalidValue);
}

TEST(Refusals, TimesBetweenEventsThatWereNot) {
  const Mark begin;
  const Mark end;
  float ms = 0;
  EXPECT_EQ(cudaEventElapsedTime(&ms, begin.get(), end.get()), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventQuery(begin.get()), cudaSuccess);
  const Stream stream;
  Gate gate(stream);
  begin.record(stream);
  end.record(stream);
  EXPECT_EQ(cudaEventElapsedTime(&ms, begin.get(), end.get()), cudaErrorNotReady);
  gate.release();
  stream.finish();
  EXPECT_EQ(cudaEventElapsedTime(&ms, begin.get(), end.get()), cudaSuccess);
  cudaEvent_t untimed = nullptr;
  ASSERT_EQ(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(untimed, stream.get()), cudaSuccess);
  stream.finish();
  EXPECT_EQ(cudaEventElapsedTime(&ms, begin.get(), untimed), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventDestroy(untimed), cudaSuccess);
}

TEST(Refusals, LaunchesThatCannotBe) {
  const DeviceArray<std::uint32_t> data(1);
  cudaGetLastError();
  for (const auto& [blocks, threads] : {std::pair{0U, 32U}, {1U, 0U}, {1U, 1056U}}) {
    launch_fill_with(blocks, threads, data.get(), nullptr);
    EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  }
  EXPECT_EQ(cudaLaunchKernel(&data, dim3(1), dim3(1), nullptr, 0, nullptr),
            cudaErrorInvalidDeviceFunction);
  launch_without_twin(nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNoKernelImageForDevice);
  const Stream of_device_0;
  expect_success(cudaSetDevice(1));
  launch_fill(data.get(), 1, 1, of_device_0.get());
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  expect_success(cudaSetDevice(0));
}

TEST(Refusals, DevicesThatAreNot) {
  EXPECT_EQ(cudaSetDevice(8), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  cudaDeviceProp properties;
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 8), cudaErrorInvalidDevice);
  int value = 0;
  EXPECT_EQ(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(255), 0),
            cudaErrorInvalidValue);
}

TEST(Refusals, PeerAccessTwiceOrNever) {
  EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaSuccess);
}

TEST(Refusals, ErrorsHaveNames) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorLaunchFailure), "cudaErrorLaunchFailure");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(12345)), "unrecognized error code");
}

}  // namespace

// These end the process's context: each is a group of its own.
TEST(IllegalAccess, KernelsThatRunOverTheEnd) {
  const DeviceArray<std::uint32_t> data(100);
  launch_fill(data.get(), 101, 1, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  void* more = nullptr;
  EXPECT_EQ(cudaMalloc(&more, 1), cudaErrorIllegalAddress);
}

TEST(IllegalPeerAccess, KernelsThatReachWithoutAccess) {
  const DeviceArray<std::uint32_t> here(100);
  expect_success(cudaSetDevice(1));
  expect_success(cudaDeviceEnablePeerAccess(0, 0));
  launch_fill(here.get(), 100, 1, nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  expect_success(cudaSetDevice(2));
  launch_fill(here.get(), 100, 1, nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

}  // namespace gpu_sim_test
