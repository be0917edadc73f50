// What waiting costs a rank.
#pragma once

#include "results-schema/metric.hpp"

namespace fleetbench::fleet {

// What this process used while it waited, its own measurements over MPI left out.
class WaitingMeter {
 public:
  void resume();
  void pause();
  Json report() const;  // {"wait_s", "cpu_s", "resident_bytes"}

 private:
  bool running_ = false;
  double wall_s_ = 0;
  double cpu_s_ = 0;
  double wall_start_ = 0;
  double cpu_start_ = 0;
};

}  // namespace fleetbench::fleet
