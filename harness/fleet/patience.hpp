// How long to sleep before looking for news again.
#pragma once

#include <poll.h>

#include <chrono>
#include <vector>

namespace fleetbench::fleet {

// A rank that waits in a blocking MPI call spins a core and slows what is measured beside it. So
// ranks look and sleep: the longer nothing happens, the longer they sleep. A sleep is at most 1/64
// of the time waited so far, so that looking late costs a slot at most that share of its time, and
// at most 20 ms: fifty looks a second cost a core less than 0.15 %.
class Patience {
 public:
  // Something happened.
  void reset() { since_ = Clock::now(); }
  // Sleeps until one of the descriptors is ready or the time is up. Returns at once where
  // something happened a moment ago.
  void wait(std::vector<pollfd> descriptors) const;

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point since_ = Clock::now();
};

}  // namespace fleetbench::fleet
