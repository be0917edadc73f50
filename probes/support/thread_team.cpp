#include "probes/support/thread_team.hpp"

namespace fleetbench {

ThreadTeam::ThreadTeam(int size, const Body& begin) : failures_(static_cast<std::size_t>(size)) {
  try {
    for (int number = 0; number < size; ++number) {
      threads_.emplace_back([this, number] { serve(number); });
    }
    run(begin);
  } catch (...) {
    end();
    throw;
  }
}

ThreadTeam::~ThreadTeam() { end(); }

void ThreadTeam::run(const Body& body) {
  std::unique_lock lock(mutex_);
  body_ = &body;
  working_ = static_cast<int>(threads_.size());
  ++round_;
  work_given_.notify_all();
  work_done_.wait(lock, [this] { return working_ == 0; });
  body_ = nullptr;
  std::exception_ptr first;
  for (std::exception_ptr& failure : failures_) {
    if (failure && !first) {
      first = failure;
    }
    failure = nullptr;
  }
  if (first) {
    std::rethrow_exception(first);
  }
}

void ThreadTeam::serve(int number) {
  long seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    work_given_.wait(lock, [&] { return quit_ || round_ != seen; });
    if (quit_) {
      return;
    }
    seen = round_;
    const Body& body = *body_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      body(number);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    failures_[static_cast<std::size_t>(number)] = failure;
    if (--working_ == 0) {
      work_done_.notify_one();
    }
  }
}

void ThreadTeam::end() noexcept {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  work_given_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

}  // namespace fleetbench
