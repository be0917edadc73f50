#include "probes/mpi/clock_pings.hpp"

#include <array>

#include "probes/mpi/mpi_call.hpp"

namespace fleetbench {
namespace {

constexpr int kPings = 8;  // the first one may have to open a connection
// The communicator is the slot's own, so these meet no other messages.
enum Tag { kPing = 1, kStamp = 2, kResult = 3 };

// Of the clock of member `to`, against the caller's own; `to` must be in answer_pings().
MemberClock ping(MPI_Comm comm, int to) {
  std::array<ClockPing, kPings> pings;
  for (ClockPing& ping : pings) {
    ping.sent_ns = MemberClock::here_ns();
    check_mpi(MPI_Send(nullptr, 0, MPI_BYTE, to, kPing, comm), "MPI_Send of a ping to member", to);
    check_mpi(MPI_Recv(&ping.answered_ns, 1, MPI_INT64_T, to, kStamp, comm, MPI_STATUS_IGNORE),
              "MPI_Recv of a clock from member", to);
    ping.received_ns = MemberClock::here_ns();
  }
  return clock_from(pings);
}

void answer_pings(MPI_Comm comm, int from) {
  for (int i = 0; i < kPings; ++i) {
    check_mpi(MPI_Recv(nullptr, 0, MPI_BYTE, from, kPing, comm, MPI_STATUS_IGNORE),
              "MPI_Recv of a ping from member", from);
    const std::int64_t stamp_ns = MemberClock::here_ns();
    check_mpi(MPI_Send(&stamp_ns, 1, MPI_INT64_T, from, kStamp, comm),
              "MPI_Send of a clock to member", from);
  }
}

// The caller's clock, told by the member that pinged it.
MemberClock be_pinged(MPI_Comm comm, int from) {
  answer_pings(comm, from);
  std::int64_t told[2] = {};
  check_mpi(MPI_Recv(told, 2, MPI_INT64_T, from, kResult, comm, MPI_STATUS_IGNORE),
            "MPI_Recv of a clock offset from member", from);
  return {told[0], told[1]};
}

// Pings a member and tells it how its clock stands to member 0's; `mine` is that of the caller.
void serve(MPI_Comm comm, int to, const MemberClock& mine) {
  const MemberClock theirs = ping(comm, to);
  const std::int64_t told[2] = {mine.offset_ns + theirs.offset_ns,
                                mine.uncertainty_ns + theirs.uncertainty_ns};
  check_mpi(MPI_Send(told, 2, MPI_INT64_T, to, kResult, comm),
            "MPI_Send of a clock offset to member", to);
}

}  // namespace

MemberClock find_member_clock(MPI_Comm comm, int span) {
  int me = 0;
  int members = 0;
  check_mpi(MPI_Comm_rank(comm, &me), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm, &members), "MPI_Comm_size");
  if (me % span != 0) {
    return be_pinged(comm, me - me % span);
  }
  MemberClock mine;
  if (me == 0) {
    for (int leader = span; leader < members; leader += span) {
      serve(comm, leader, mine);
    }
  } else {
    mine = be_pinged(comm, 0);
  }
  for (int member = me + 1; member < members && member < me + span; ++member) {
    serve(comm, member, mine);
  }
  return mine;
}

}  // namespace fleetbench
