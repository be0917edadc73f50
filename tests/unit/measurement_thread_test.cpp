#include "harness/fleet/measurement_thread.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace fleetbench::fleet {
namespace {

void wait_until_idle(MeasurementThread& thread) {
  while (thread.busy()) {
    pollfd descriptor{thread.descriptor(), POLLIN, 0};
    poll(&descriptor, 1, 1000);
  }
}

TEST(MeasurementThread, RunsOnePieceOfWorkAfterTheOther) {
  MeasurementThread thread;
  std::atomic<int> sum = 0;
  for (int i = 1; i <= 10; ++i) {
    thread.start([&sum, i] { sum += i; });
    wait_until_idle(thread);
  }
  EXPECT_EQ(sum, 55);
}

TEST(MeasurementThread, ItsDescriptorIsReadyWhenWorkIsDoneAndOnlyThen) {
  MeasurementThread thread;
  std::atomic<bool> go = false;
  thread.start([&] {
    while (!go) {
      std::this_thread::yield();
    }
  });
  pollfd descriptor{thread.descriptor(), POLLIN, 0};
  EXPECT_EQ(poll(&descriptor, 1, 50), 0);
  go = true;
  EXPECT_EQ(poll(&descriptor, 1, 5000), 1);
  wait_until_idle(thread);
}

TEST(MeasurementThread, WorkThatHangsIsAbandonedAndKeepsWhatItHolds) {
  struct State {
    std::mutex mutex;
    std::condition_variable released;
    bool release = false;
    bool finished = false;
  };
  const auto state = std::make_shared<State>();
  const auto start = std::chrono::steady_clock::now();
  {
    MeasurementThread thread;
    thread.start([state] {
      std::unique_lock lock(state->mutex);
      state->released.wait(lock, [&] { return state->release; });
      state->finished = true;
      state->released.notify_all();
    });
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  std::unique_lock lock(state->mutex);
  EXPECT_FALSE(state->finished);
  state->release = true;
  state->released.notify_all();
  EXPECT_TRUE(
      state->released.wait_for(lock, std::chrono::seconds(10), [&] { return state->finished; }));
}

}  // namespace
}  // namespace fleetbench::fleet
