// The modelled time.
#include <chrono>
#include <set>
#include <thread>

#include "tests/gpu_sim/test/owners.hpp"

namespace gpu_sim_test {

namespace {

constexpr std::size_t kBytes = std::size_t{4} << 20;
constexpr double kCopyS = 1.2e-6 + kBytes / 55e9;

using Bytes = DeviceArray<std::byte>;
using HostBytes = PinnedArray<std::byte>;

double copy_seconds(const Bytes& device, const HostBytes& host, cudaMemcpyKind kind, int copies) {
  return seconds_of([&](cudaStream_t stream) {
    for (int i = 0; i < copies; ++i) {
      const bool up = kind == cudaMemcpyHostToDevice;
      void* to = up ? device.get() : host.get();
      const void* from = up ? host.get() : device.get();
      expect_success(cudaMemcpyAsync(to, from, kBytes, kind, stream));
    }
  });
}

TEST(Clock, CopiesTakeBytesOverRate) {
  const Bytes device(kBytes);
  const HostBytes host(kBytes);
  expect_about(copy_seconds(device, host, cudaMemcpyHostToDevice, 1), kCopyS);
  expect_about(copy_seconds(device, host, cudaMemcpyDeviceToHost, 1), kCopyS);
  expect_about(copy_seconds(device, host, cudaMemcpyHostToDevice, 16), 16 * kCopyS);
}

TEST(Clock, PageableMemoryIsSlowerAndWaitedFor) {
  const Bytes device(kBytes);
  const std::vector<std::byte> host(kBytes);
  const Stream stream;
  const Mark begin;
  const Mark end;
  begin.record(stream);
  expect_success(
      cudaMemcpyAsync(device.get(), host.data(), kBytes, cudaMemcpyHostToDevice, stream.get()));
  end.record(stream);
  stream.finish();
  EXPECT_GT(begin.seconds_until(end), 4 * kCopyS);
}

TEST(Clock, KernelsTakeTheirBytesOverTheMemorysRate) {
  constexpr std::uint64_t kVectors = std::uint64_t{1} << 18;
  const DeviceArray<float> a(4 * kVectors);
  const DeviceArray<float> b(4 * kVectors);
  const DeviceArray<float> c(4 * kVectors);
  const double s = seconds_of(
      [&](cudaStream_t stream) { launch_triad(a.get(), b.get(), c.get(), 2, kVectors, stream); });
  expect_about(s, 2e-6 + 48 * kVectors / (3.35e12 * 0.92));
}

TEST(Clock, BothDirectionsOverlapAndOneSharesItsLink) {
  const Bytes device(2 * kBytes);
  const HostBytes host(2 * kBytes);
  const auto both = [&](cudaMemcpyKind second) {
    const Stream other;
    const Mark ready;
    return seconds_of([&](cudaStream_t stream) {
      expect_success(cudaEventRecord(ready.get(), stream));
      expect_success(cudaStreamWaitEvent(other.get(), ready.get(), 0));
      cudaMemcpyAsync(device.get(), host.get(), kBytes, cudaMemcpyHostToDevice, stream);
      const bool up = second == cudaMemcpyHostToDevice;
      std::byte* at = device.get() + kBytes;
      std::byte* there = host.get() + kBytes;
      cudaMemcpyAsync(up ? at : there, up ? there : at, kBytes, second, other.get());
      expect_success(cudaEventRecord(ready.get(), other.get()));
      expect_success(cudaStreamWaitEvent(stream, ready.get(), 0));
    });
  };
  expect_about(both(cudaMemcpyDeviceToHost), kCopyS);
  expect_about(both(cudaMemcpyHostToDevice), 2 * kCopyS);
}

TEST(Clock, WorkBehindAGateRunsBackToBackHoweverLateTheHostIs) {
  const Bytes device(kBytes);
  const HostBytes host(kBytes);
  const Stream stream;
  const Mark begin;
  const Mark end;
  Gate gate(stream);
  begin.record(stream);
  for (int i = 0; i < 16; ++i) {
    cudaMemcpyAsync(device.get(), host.get(), kBytes, cudaMemcpyHostToDevice, stream.get());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  end.record(stream);
  EXPECT_EQ(cudaEventQuery(end.get()), cudaErrorNotReady);
  // From another thread, while this one waits.
  std::thread releaser([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gate.release();
  });
  stream.finish();
  releaser.join();
  EXPECT_FALSE(gate.gave_up());
  expect_about(begin.seconds_until(end), 16 * kCopyS);
}

TEST(Clock, TheSameCallsTakeTheSameTimesAndRepetitionsDiffer) {
  const Bytes device(kBytes);
  const HostBytes host(kBytes);
  std::set<double> different;
  for (int i = 0; i < 8; ++i) {
    different.insert(copy_seconds(device, host, cudaMemcpyHostToDevice, 1));
  }
  EXPECT_GE(different.size(), 7U);
  EXPECT_LT(*different.rbegin() / *different.begin(), 1.02);
}

TEST(Clock, ThreadsMayWorkOnDevicesOfTheirOwn) {
  std::vector<double> times(4);
  std::vector<std::thread> threads;
  for (int gpu = 0; gpu < 4; ++gpu) {
    threads.emplace_back([&times, gpu] {
      expect_success(cudaSetDevice(gpu));
      const Bytes device(kBytes);
      const HostBytes host(kBytes);
      times[static_cast<std::size_t>(gpu)] = copy_seconds(device, host, cudaMemcpyDeviceToHost, 16);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const double s : times) {
    expect_about(s, 16 * kCopyS);
  }
}

TEST(Clock, GpusDifferALittle) {
  int gpus = 0;
  expect_success(cudaGetDeviceCount(&gpus));
  ASSERT_EQ(gpus, 8);
  std::set<double> times;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    expect_success(cudaSetDevice(gpu));
    const Bytes device(kBytes);
    const HostBytes host(kBytes);
    times.insert(copy_seconds(device, host, cudaMemcpyHostToDevice, 16));
  }
  expect_success(cudaSetDevice(0));
  EXPECT_GT(*times.rbegin() / *times.begin(), 1.003);
  EXPECT_LT(*times.rbegin() / *times.begin(), 1.05);
}

TEST(Clock, HostSeesOldDataUntilItWaits) {
  const std::vector<std::byte> ones(kBytes, std::byte{1});
  const Bytes device(ones);
  const HostBytes host(kBytes);
  const Stream stream;
  cudaMemcpyAsync(host.get(), device.get(), kBytes, cudaMemcpyDeviceToHost, stream.get());
  EXPECT_EQ(host[kBytes - 1], std::byte{0});
  stream.finish();
  EXPECT_EQ(host[kBytes - 1], std::byte{1});
}

TEST(Clock, AskingComesToAnEnd) {
  const Bytes device(kBytes);
  const HostBytes host(kBytes);
  const Stream stream;
  for (int i = 0; i < 100; ++i) {
    cudaMemcpyAsync(device.get(), host.get(), kBytes, cudaMemcpyHostToDevice, stream.get());
  }
  int asked = 0;
  while (cudaStreamQuery(stream.get()) == cudaErrorNotReady && asked < 1000) {
    ++asked;
  }
  EXPECT_GT(asked, 2);
  EXPECT_LT(asked, 100);
}

TEST(Clock, OnlyWhatComesBeforeIsDone) {
  const std::vector<std::byte> ones(kBytes, std::byte{1});
  const Bytes device(ones);
  const HostBytes first(kBytes);
  const HostBytes second(kBytes);
  const Stream busy;
  const Stream idle;
  for (const HostBytes* host : {&first, &second}) {
    cudaMemcpyAsync(host->get(), device.get(), kBytes, cudaMemcpyDeviceToHost, busy.get());
  }
  const Mark mark;
  mark.record(idle);
  idle.finish();
  EXPECT_EQ(second[0], std::byte{0});
  busy.finish();
  EXPECT_EQ(second[0], std::byte{1});
}

TEST(Clock, PageableMemoryIsFilledWhenTheCallReturns) {
  const std::vector<std::byte> ones(kBytes, std::byte{1});
  const Bytes device(ones);
  std::vector<std::byte> host(kBytes);
  const Stream stream;
  cudaMemcpyAsync(host.data(), device.get(), kBytes, cudaMemcpyDeviceToHost, stream.get());
  EXPECT_EQ(host, ones);
}

TEST(Clock, PeersCopyAtTheirOwnRate) {
  const Bytes from(kBytes);
  expect_success(cudaSetDevice(1));
  const Bytes to(kBytes);
  expect_success(cudaSetDevice(0));
  const double s = seconds_of([&](cudaStream_t stream) {
    expect_success(cudaMemcpyPeerAsync(to.get(), 1, from.get(), 0, kBytes, stream));
  });
  expect_about(s, 1.2e-6 + kBytes / 370e9);
}

}  // namespace

}  // namespace gpu_sim_test
