// How much of a chip works, as it counts that itself.
#pragma once

#include <chrono>
#include <memory>

#include "probes/gpu/nvml/nvml_library.hpp"
#include "results-schema/metric.hpp"

namespace fleetbench::gpu::nvml {

struct FreeGpmSample {
  Return (*free)(GpmSample) = nullptr;
  void operator()(GpmSample sample) const { call(free, sample); }
};

// Between its construction and finish(), pauses of a measurement included.
class SmActivity {
 public:
  SmActivity(const Library& library, Device device);

  // {"sm_active": share of the time that a multiprocessor had work, mean of all of them,
  //  "sm_occupancy": share of the warps that could be there}. Empty where the chip does not count
  // them (before Hopper), the driver does not tell, or the time is too short for it.
  Json finish();

 private:
  using Sample = std::unique_ptr<GpmSampleHandle, FreeGpmSample>;

  Sample sample() const;

  const Calls& calls_;
  Device device_;
  Sample first_;  // null: not to be had
  std::chrono::steady_clock::time_point begun_;
};

}  // namespace fleetbench::gpu::nvml
