// The clock of the first of those that measure together, on each of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

namespace fleetbench {

// How a member's steady clock stands to that of member 0.
struct MemberClock {
  std::int64_t offset_ns = 0;       // the member's clock less that of member 0
  std::int64_t uncertainty_ns = 0;  // the offset is wrong by at most this much

  // Of the steady clock of this machine.
  static std::int64_t here_ns() {
    const auto here = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(here).count();
  }

  // Now, on member 0's clock.
  std::int64_t now_ns() const { return here_ns() - offset_ns; }
};

// A question and its answer: sent and received by the asker's clock, answered by the other's.
struct ClockPing {
  std::int64_t sent_ns = 0;
  std::int64_t answered_ns = 0;
  std::int64_t received_ns = 0;
};

// Cristian's method (Probabilistic clock synchronization, 1989): of a few pings the one with the
// smallest round trip counts. The answer was given within it, so the offset is that to its middle,
// and wrong by half of it at most. PURE. The clock of who answered, against the asker's.
// Precondition: there is a ping.
MemberClock clock_from(std::span<const ClockPing> pings);

}  // namespace fleetbench
