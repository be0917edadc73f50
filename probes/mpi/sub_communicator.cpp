#include "probes/mpi/sub_communicator.hpp"

#include "probes/mpi/mpi_call.hpp"

namespace fleetbench {
namespace {

constexpr int kMeetTagOffset = 7;

// Returns once all members have come: a dissemination barrier (Hensgen, Finkel, Manber: Two
// algorithms for barrier synchronization, 1988).
void meet(const MpiGroup& group) {
  const int members = static_cast<int>(group.members.size());
  const auto rank_at = [&](int position) {
    return group.members.at(static_cast<std::size_t>((position + members) % members));
  };
  for (int distance = 1; distance < members; distance *= 2) {
    check_mpi(
        MPI_Sendrecv(nullptr, 0, MPI_BYTE, rank_at(group.me + distance), group.tag + kMeetTagOffset,
                     nullptr, 0, MPI_BYTE, rank_at(group.me - distance), group.tag + kMeetTagOffset,
                     group.world, MPI_STATUS_IGNORE),
        "MPI_Sendrecv with rank", rank_at(group.me - distance));
  }
}

// MPI promises that tags go to 32767; most libraries have a thousand million more.
int creation_tag(const MpiGroup& group) {
  int* largest = nullptr;
  int known = 0;
  check_mpi(MPI_Comm_get_attr(group.world, MPI_TAG_UB, &largest, &known), "MPI_Comm_get_attr");
  const int last = known != 0 ? *largest : 32767;
  return last - group.turn % (last - SubCommunicator::kFirstTag + 1);
}

}  // namespace

SubCommunicator::SubCommunicator(const MpiGroup& group) {
  meet(group);
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group some = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_group(group.world, &all), "MPI_Comm_group");
  const int include_rc =
      MPI_Group_incl(all, static_cast<int>(group.members.size()), group.members.data(), &some);
  MPI_Group_free(&all);
  check_mpi(include_rc, "MPI_Group_incl");
  const int create_rc = MPI_Comm_create_group(group.world, some, creation_tag(group), &comm_);
  MPI_Group_free(&some);
  check_mpi(create_rc, "MPI_Comm_create_group");
  check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

SubCommunicator::~SubCommunicator() {
  if (comm_ != MPI_COMM_NULL) {
    MPI_Comm_free(&comm_);
  }
}

}  // namespace fleetbench
