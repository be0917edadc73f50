// The clock of member 0, on every member.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdint>

namespace fleetbench {

// How a member's steady clock stands to that of member 0.
struct MemberClock {
  std::int64_t offset_ns = 0;       // the member's clock less that of member 0
  std::int64_t uncertainty_ns = 0;  // the offset is wrong by at most this much

  // Now, on member 0's clock.
  std::int64_t now_ns() const {
    const auto here = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(here).count() - offset_ns;
  }
};

// Cristian's method (Probabilistic clock synchronization, 1989): of a few pings the one with the
// smallest round trip counts. The answer was given within it, so the offset is that to its middle,
// and wrong by half of it at most. All members of `comm` call it together; it blocks until all did.
// Member 0 pings up to kClockSpan - 1 members by itself. In a larger group each kClockSpan-th
// member is pinged by member 0 and pings those that follow it: offsets and uncertainties then add
// up, and no member has more than kClockSpan + members / kClockSpan partners, nor waits for more.
// Throws std::runtime_error when MPI reports an error. `span` is for tests.
inline constexpr int kClockSpan = 128;
MemberClock find_member_clock(MPI_Comm comm, int span = kClockSpan);

}  // namespace fleetbench
