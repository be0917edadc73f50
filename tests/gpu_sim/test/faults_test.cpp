// Each fault that changes a speed or a result, against a GPU without it. A group runs with the
// setting that its comment names.
#include <functional>

#include "tests/gpu_sim/test/gemm.hpp"
#include "tests/gpu_sim/test/owners.hpp"

namespace gpu_sim_test {

namespace {

constexpr std::size_t kBytes = std::size_t{8} << 20;
// Two GPUs with their own offsets.
constexpr double kTwice = 2 * kNoise;

enum class Direction { up, down };

double copy_seconds(int gpu, Direction direction) {
  expect_success(cudaSetDevice(gpu));
  const DeviceArray<std::byte> device(kBytes);
  const PinnedArray<std::byte> host(kBytes);
  return seconds_of([&](cudaStream_t stream) {
    const bool up = direction == Direction::up;
    void* to = up ? device.get() : host.get();
    expect_success(cudaMemcpyAsync(to, up ? host.get() : device.get(), kBytes,
                                   up ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream));
  });
}

double gemm_seconds(int gpu) {
  expect_success(cudaSetDevice(gpu));
  const GemmShape shape{CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, false, false, 512, 512, 512};
  const DeviceArray<float> a(512 * 512);
  const DeviceArray<float> d(512 * 512);
  const Gemm gemm(shape);
  return seconds_of([&](cudaStream_t stream) { gemm.run(a.get(), a.get(), d.get(), stream); });
}

double kernel_seconds(int gpu, const std::function<void(std::uint32_t*, cudaStream_t)>& launch) {
  expect_success(cudaSetDevice(gpu));
  const DeviceArray<std::uint32_t> data(kBytes / 4);
  return seconds_of([&](cudaStream_t stream) { launch(data.get(), stream); });
}

double fill_seconds(int gpu) {
  return kernel_seconds(gpu, [](std::uint32_t* data, cudaStream_t stream) {
    launch_fill(data, kBytes / 4, 1, stream);
  });
}

double write_seconds(int gpu) {
  return kernel_seconds(gpu, [](std::uint32_t* data, cudaStream_t stream) {
    launch_write(data, kBytes / 16, 1, stream);
  });
}

double peer_seconds(int from, int to) {
  expect_success(cudaSetDevice(to));
  const DeviceArray<std::byte> there(kBytes);
  expect_success(cudaSetDevice(from));
  const DeviceArray<std::byte> here(kBytes);
  return seconds_of([&](cudaStream_t stream) {
    expect_success(cudaMemcpyPeerAsync(there.get(), to, here.get(), from, kBytes, stream));
  });
}

// node1:0:sm_clock=0.7. Without fixed parts of times, as for all groups of this file.
TEST(SlowClock, SlowsArithmeticAndNothingElse) {
  expect_about(gemm_seconds(0) / gemm_seconds(1), 1 / 0.7, kTwice);
  expect_about(fill_seconds(0) / fill_seconds(1), 1 / 0.7, kTwice);
  expect_about(write_seconds(0) / write_seconds(1), 1, kTwice);
  expect_about(copy_seconds(0, Direction::up) / copy_seconds(1, Direction::up), 1, kTwice);
}

// node1:0:pcie_width=8;node1:1:pcie_gen=3;node1:2:h2d=0.5;node1:3:d2h=0.5
TEST(SlowPcie, SlowsCopiesInProportion) {
  const double up = copy_seconds(7, Direction::up);
  const double down = copy_seconds(7, Direction::down);
  expect_about(up, kBytes / 55e9);
  expect_about(copy_seconds(0, Direction::up) / up, 2, kTwice);
  expect_about(copy_seconds(0, Direction::down) / down, 2, kTwice);
  expect_about(copy_seconds(1, Direction::up) / up, 4, kTwice);
  expect_about(copy_seconds(1, Direction::down) / down, 4, kTwice);
  expect_about(copy_seconds(2, Direction::up) / up, 2, kTwice);
  expect_about(copy_seconds(2, Direction::down) / down, 1, kTwice);
  expect_about(copy_seconds(3, Direction::up) / up, 1, kTwice);
  expect_about(copy_seconds(3, Direction::down) / down, 2, kTwice);
}

// node1:0:peer=5:0.5
TEST(SlowPeer, SlowsOnePathInOneDirection) {
  expect_about(peer_seconds(0, 5) / peer_seconds(0, 4), 2, kTwice);
  expect_about(peer_seconds(5, 0) / peer_seconds(0, 4), 1, kTwice);
}

// node1:0:nvlinks_down=9
TEST(FewLinks, SlowTheirCopiesInProportion) {
  expect_about(peer_seconds(0, 4) / peer_seconds(1, 4), 2, kTwice);
  expect_about(peer_seconds(4, 0) / peer_seconds(1, 4), 2, kTwice);
}

// node1:0:nvlink=0.5
TEST(SlowNvlink, SlowsCopiesOverIt) {
  expect_about(peer_seconds(0, 4) / peer_seconds(1, 4), 2, kTwice);
  expect_about(peer_seconds(4, 0) / peer_seconds(1, 4), 2, kTwice);
}

// node1:1:no_peers
TEST(NoPeers, ReachNobodyAndAreNotReached) {
  int can = 1;
  for (const auto& [from, to] : {std::pair(0, 1), std::pair(1, 0)}) {
    expect_success(cudaDeviceCanAccessPeer(&can, from, to));
    EXPECT_EQ(can, 0);
    expect_success(cudaSetDevice(from));
    EXPECT_EQ(cudaDeviceEnablePeerAccess(to, 0), cudaErrorPeerAccessUnsupported);
    expect_success(cudaDeviceGetP2PAttribute(&can, cudaDevP2PAttrAccessSupported, from, to));
    EXPECT_EQ(can, 0);
  }
  EXPECT_EQ(cudaGetLastError(), cudaErrorPeerAccessUnsupported);
  expect_success(cudaDeviceCanAccessPeer(&can, 0, 2));
  EXPECT_EQ(can, 1);
}

// node1:0:memory=0.8
TEST(SlowMemory, SlowsWhatIsBoundByMemory) {
  expect_about(write_seconds(0) / write_seconds(1), 1 / 0.8, kTwice);
  expect_about(gemm_seconds(0) / gemm_seconds(1), 1, kTwice);
}

std::size_t different_bytes(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    count += a[i] != b[i] ? 1U : 0U;
  }
  return count;
}

// node1:0:wrong_bit=gemm@2
TEST(WrongGemm, FromTheSecondOn) {
  const GemmShape shape{CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F};
  const DeviceArray<std::byte> a(2 * 64 * 64);
  launch_random_matrix(a.get(), 64 * 64, 2, 1, nullptr);
  const DeviceArray<std::byte> d(2 * 64 * 48);
  const Gemm gemm(shape);
  std::vector<std::vector<std::byte>> results;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(gemm.run(a.get(), a.get(), d.get(), nullptr), CUBLAS_STATUS_SUCCESS);
    results.push_back(d.values());
  }
  EXPECT_EQ(different_bytes(results[0], results[1]), 1U);
  EXPECT_EQ(different_bytes(results[0], results[2]), 1U);
}

// node1:0:wrong_bit=copy
TEST(WrongCopy, SparesSmallOnes) {
  const std::vector<std::byte> zeros(8192);
  EXPECT_EQ(different_bytes(DeviceArray<std::byte>(zeros).values(), zeros), 0U)
      << "the same bit on the way back";
  const PinnedArray<std::byte> host(8192);
  const DeviceArray<std::byte> device(8192);
  expect_success(cudaMemset(device.get(), 0, 8192));
  expect_success(cudaMemcpy(host.get(), device.get(), 8192, cudaMemcpyDeviceToHost));
  EXPECT_EQ(different_bytes({host.get(), host.get() + 8192}, zeros), 1U);
  expect_success(cudaMemcpy(host.get(), device.get(), 8192, cudaMemcpyDeviceToHost));
  std::fill_n(host.get(), 8192, std::byte{0});
  expect_success(cudaMemcpy(host.get(), device.get(), 4095, cudaMemcpyDeviceToHost));
  EXPECT_EQ(different_bytes({host.get(), host.get() + 8192}, zeros), 0U);
}

// node1:0:sticky=launch@2
TEST(Sticky, EndsTheContext) {
  const DeviceArray<std::uint32_t> data(100);
  launch_fill(data.get(), 100, 1, nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  launch_fill(data.get(), 100, 1, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  int count = 0;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
}

// node1:0:oom=1000000
TEST(SmallMemory, EndsWhereItSays) {
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 1'000'001), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMalloc(&memory, 1'000'000), cudaSuccess);
  std::size_t free = 1;
  std::size_t total = 0;
  expect_success(cudaMemGetInfo(&free, &total));
  EXPECT_EQ(free, 0U);
  EXPECT_EQ(total, 1'000'000U);
  expect_success(cudaFree(memory));
}

}  // namespace

}  // namespace gpu_sim_test
