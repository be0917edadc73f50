// Asks a worker once what GPUs CUDA shows this process. The worker ends with it, so that it holds
// nothing of any device.
#pragma once

#include <poll.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "harness/fleet/slot_runner.hpp"
#include "harness/worker/worker.hpp"

namespace fleetbench::fleet {

class GpuScout {
 public:
  // Begins to ask; `limit_s` holds for preparing and for measuring.
  GpuScout(worker::Worker worker, double limit_s);

  // The outcome, once; its detail is gpu_inventory's.
  std::optional<Outcome> poll();
  void cancel(const std::string& reason) { worker_.cancel(reason); }
  std::string last_words() const { return worker_.last_words(); }
  std::vector<pollfd> descriptors() const { return worker_.descriptors(); }

 private:
  worker::Worker worker_;
  double limit_s_;
  std::chrono::steady_clock::time_point sent_;
  bool measures_ = false;
};

}  // namespace fleetbench::fleet
