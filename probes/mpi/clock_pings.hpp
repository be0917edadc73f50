// The clock of member 0, found by every member of a communicator.
#pragma once

#include <mpi.h>

#include "probes/support/member_clock.hpp"

namespace fleetbench {

// By clock_from(). All members of `comm` call it together; it blocks until all did.
// Member 0 pings up to kClockSpan - 1 members by itself. In a larger group each kClockSpan-th
// member is pinged by member 0 and pings those that follow it: offsets and uncertainties then add
// up, and no member has more than kClockSpan + members / kClockSpan partners, nor waits for more.
// Throws std::runtime_error when MPI reports an error. `span` is for tests.
inline constexpr int kClockSpan = 128;
MemberClock find_member_clock(MPI_Comm comm, int span = kClockSpan);

}  // namespace fleetbench
