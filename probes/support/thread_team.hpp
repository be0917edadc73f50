// Threads that wait for work and do it together, for what is measured on several cores.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace fleetbench {

// `size` threads, 0 to size - 1, which live as long as this object. Between calls they sleep: to
// wake all of them takes a moment, so let a body work for milliseconds. To be used
// from one thread. Not to be copied or moved.
class ThreadTeam {
 public:
  using Body = std::function<void(int)>;

  // Each thread runs `begin` with its number first (to bind itself, say). Throws what `begin`
  // throws and std::system_error where there are no more threads to be had.
  explicit ThreadTeam(
      int size, const Body& begin = [](int) {});
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return static_cast<int>(failures_.size()); }

  // Every thread runs `body` with its number; returns once all have. Throws what the thread of the
  // lowest number threw.
  void run(const Body& body);

 private:
  void serve(int number);
  void end() noexcept;

  std::mutex mutex_;
  std::condition_variable work_given_;
  std::condition_variable work_done_;
  const Body* body_ = nullptr;
  long round_ = 0;  // goes up with each piece of work
  int working_ = 0;
  bool quit_ = false;
  std::vector<std::exception_ptr> failures_;  // one a thread
  std::vector<std::thread> threads_;
};

}  // namespace fleetbench
