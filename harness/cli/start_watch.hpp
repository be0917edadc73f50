// What goes on beside MPI_Init, which waits for ever for a rank that never comes up.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "harness/cli/run_options.hpp"
#include "harness/record/marks.hpp"

namespace fleetbench::cli {

// From the start of the process until all ranks are in the job, when it is to be destroyed: ends
// the process where that takes longer than options.launch_limit_s. Under the gate it leaves this
// rank's mark in the run directory and keeps it fresh, so that a rank that has stopped meanwhile
// shows too.
class StartWatch {
 public:
  explicit StartWatch(const RunOptions& options);
  ~StartWatch();
  StartWatch(const StartWatch&) = delete;
  StartWatch& operator=(const StartWatch&) = delete;

 private:
  void watch(double limit_s);

  std::optional<record::OwnMark> mark_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace fleetbench::cli
