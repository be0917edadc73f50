// Copies timed as nvbandwidth does it: some copies are queued behind a kernel that waits for the
// host, so that the driver's work of queueing them is not measured, and two events around them give
// the time by the device's clock. Bytes are counted once, also those of a copy within a device.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "probes/gpu/host_memory.hpp"
#include "results-schema/metric.hpp"

namespace fleetbench::gpu {

struct CopyPlan {
  int copies = 16;  // in a sample
  int warm_up = 4;
  int samples = 3;
  // That the copies of a sample may take before they are given up; none: no end.
  std::optional<double> longest_s = {};
};

// The parameters of such a plan, without an end, as properties of a JSON schema. At most so many
// copies in a sample.
Json copy_plan_properties(int most_copies);
CopyPlan copy_plan_from(const Json& params);

// `bytes` from one place to another; a place is memory of the device or pinned memory.
struct CopyRoute {
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t bytes = 0;
};

class CopyTimer {
 public:
  CopyTimer(const Gpu& gpu, CopyPlan plan);

  // Seconds of each sample, plan.copies copies each. `against`: a route that is busy all the time
  // meanwhile, as the other direction is in a bidirectional test. Throws CudaError, TimedOut where
  // the plan has an end and copies have none (nobody may wait for the device then, nor free what is
  // its), and std::runtime_error where the other route could not be kept busy.
  std::vector<double> time(const CopyRoute& route, const std::optional<CopyRoute>& against = {});

 private:
  void queue(const CopyRoute& route, int copies, const Stream& stream) const;
  void wait_for(const Stream& stream) const;
  std::optional<double> sample(const CopyRoute& route, const std::optional<CopyRoute>& against,
                               int copies_against);

  const Gpu& gpu_;
  CopyPlan plan_;
  LaunchLatch latch_;
  Stream stream_;
  Stream other_stream_;
  Event released_;
  Event begin_;
  Event end_;
  Event other_end_;
};

// Bytes a second of samples of so many copies each: by their median.
double copy_rate(const std::vector<double>& sample_s, int copies, std::size_t bytes);

}  // namespace fleetbench::gpu
