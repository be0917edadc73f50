// How long to sleep before looking for news again.
#pragma once

#include <poll.h>

#include <chrono>
#include <vector>

namespace fleetbench::fleet {

// A rank that waits in a blocking MPI call spins a core and slows what is measured beside it. So
// ranks look and sleep: the longer nothing happens, the longer they sleep. A look that comes late
// costs a slot at most the share of its time that the sleep is of the time waited so far.
class Patience {
 public:
  struct Habit {
    double share;                      // of the time waited so far that a sleep may last
    std::chrono::nanoseconds longest;  // but never longer than this
  };
  // Of an agent, of which there may be hundreds on a machine: at most 25 looks a second. What they
  // cost is in every report; docs/operations.md has the command for 64 ranks.
  static constexpr Habit kAgent{1.0 / 8, std::chrono::milliseconds(40)};
  // Of an agent whose turn is next.
  static constexpr Habit kAttentive{1.0 / 8, std::chrono::milliseconds(4)};
  // Of the root, on whom all wait.
  static constexpr Habit kRoot{1.0 / 64, std::chrono::milliseconds(4)};

  // Something happened.
  void reset() { since_ = Clock::now(); }
  // Sleeps until one of the descriptors is ready or the time is up. Hardly at all where something
  // happened a moment ago.
  void wait(const Habit& habit, std::vector<pollfd> descriptors) const;

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point since_ = Clock::now();
};

}  // namespace fleetbench::fleet
