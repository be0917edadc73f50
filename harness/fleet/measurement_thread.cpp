#include "harness/fleet/measurement_thread.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>

namespace fleetbench::fleet {

struct MeasurementThread::Shared {
  ~Shared() { close(event); }

  void serve() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return quit || work; });
      if (!work) {
        return;
      }
      const auto job = std::exchange(work, nullptr);
      lock.unlock();
      job();
      lock.lock();
      busy = false;
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto written = write(event, &one, sizeof one);
    }
  }

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::function<void()> work;
  bool busy = false;
  bool quit = false;
  int event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  std::thread thread;
};

MeasurementThread::MeasurementThread() : shared_(std::make_shared<Shared>()) {
  shared_->thread = std::thread([shared = shared_] { shared->serve(); });
}

MeasurementThread::~MeasurementThread() {
  std::thread thread;
  bool abandoned = false;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->quit = true;
    abandoned = shared_->busy;
    thread = std::move(shared_->thread);
  }
  shared_->changed.notify_one();
  if (abandoned) {
    thread.detach();  // it may spin inside MPI until the process ends
  } else {
    thread.join();
  }
}

void MeasurementThread::start(std::function<void()> work) {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto emptied = read(shared_->event, &count, sizeof count);
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->busy = true;
    shared_->work = std::move(work);
  }
  shared_->changed.notify_one();
}

bool MeasurementThread::busy() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->busy;
}

void MeasurementThread::set_in_background(bool background) {
  const sched_param any{};
  pthread_setschedparam(shared_->thread.native_handle(), background ? SCHED_IDLE : SCHED_OTHER,
                        &any);
}

int MeasurementThread::descriptor() const { return shared_->event; }

}  // namespace fleetbench::fleet
