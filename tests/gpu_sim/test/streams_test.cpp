// Which streams wait for which.
#include "tests/gpu_sim/test/owners.hpp"

namespace gpu_sim_test {

namespace {

constexpr std::uint64_t kLongNs = 60'000'000'000;

class BlockingStream {
 public:
  BlockingStream() { expect_success(cudaStreamCreate(&stream_)); }
  BlockingStream(const BlockingStream&) = delete;
  BlockingStream& operator=(const BlockingStream&) = delete;
  ~BlockingStream() { cudaStreamDestroy(stream_); }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// After as many questions all that can end has ended: each lets more time pass.
cudaError_t state_in_the_end(cudaStream_t stream) {
  cudaError_t state = cudaErrorNotReady;
  for (int i = 0; i < 100 && state == cudaErrorNotReady; ++i) {
    state = cudaStreamQuery(stream);
  }
  return state;
}

// Holds `stream` up while `work` is looked at.
template <typename Look>
void while_held_up(cudaStream_t stream, Look look) {
  const PinnedArray<std::uint32_t> latch(2);
  latch[0] = latch[1] = 0;
  launch_wait(&latch[0], kLongNs, &latch[1], stream);
  look();
  latch[0] = 1;
  expect_success(cudaDeviceSynchronize());
}

TEST(Streams, TheDefaultOneWaitsForBlockingOnes) {
  const DeviceArray<std::byte> data(100);
  const BlockingStream blocking;
  while_held_up(blocking.get(), [&] {
    expect_success(cudaMemsetAsync(data.get(), 1, 100, nullptr));
    EXPECT_EQ(state_in_the_end(nullptr), cudaErrorNotReady);
  });
  EXPECT_EQ(state_in_the_end(nullptr), cudaSuccess);
}

TEST(Streams, BlockingOnesWaitForTheDefaultOne) {
  const DeviceArray<std::byte> data(100);
  const BlockingStream blocking;
  const Stream free;
  while_held_up(nullptr, [&] {
    expect_success(cudaMemsetAsync(data.get(), 1, 100, blocking.get()));
    expect_success(cudaMemsetAsync(data.get(), 1, 100, free.get()));
    EXPECT_EQ(state_in_the_end(blocking.get()), cudaErrorNotReady);
    EXPECT_EQ(state_in_the_end(free.get()), cudaSuccess);
  });
  EXPECT_EQ(state_in_the_end(blocking.get()), cudaSuccess);
}

TEST(Streams, EventsHoldOthersUp) {
  const DeviceArray<std::byte> data(100);
  const Stream first;
  const Stream second;
  const Mark mark;
  while_held_up(first.get(), [&] {
    mark.record(first);
    expect_success(cudaStreamWaitEvent(second.get(), mark.get(), 0));
    expect_success(cudaMemsetAsync(data.get(), 1, 100, second.get()));
    EXPECT_EQ(state_in_the_end(second.get()), cudaErrorNotReady);
    EXPECT_EQ(cudaEventQuery(mark.get()), cudaErrorNotReady);
  });
  EXPECT_EQ(state_in_the_end(second.get()), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(mark.get()), cudaSuccess);
}

TEST(Streams, FreeingMemoryWaitsForItsWork) {
  const PinnedArray<std::byte> host(100);
  const Stream stream;
  {
    const DeviceArray<std::byte> data(100);
    expect_success(cudaMemsetAsync(data.get(), 1, 100, stream.get()));
    expect_success(
        cudaMemcpyAsync(host.get(), data.get(), 100, cudaMemcpyDeviceToHost, stream.get()));
  }
  EXPECT_EQ(host[99], std::byte{1});
}

TEST(Streams, WorkOfADestroyedOneIsStillDone) {
  const DeviceArray<std::byte> data(100);
  cudaStream_t stream = nullptr;
  expect_success(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  expect_success(cudaMemsetAsync(data.get(), 1, 100, stream));
  expect_success(cudaStreamDestroy(stream));
  expect_success(cudaDeviceSynchronize());
  EXPECT_EQ(data.values()[99], std::byte{1});
}

}  // namespace

}  // namespace gpu_sim_test
