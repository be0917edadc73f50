#include "probes/mpi/sub_communicator.hpp"

#include "probes/mpi/mpi_call.hpp"

namespace fleetbench {
namespace {

constexpr int kCreateTagOffset = 6;

}  // namespace

SubCommunicator::SubCommunicator(const MpiGroup& group) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group some = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_group(group.world, &all), "MPI_Comm_group");
  const int include_rc =
      MPI_Group_incl(all, static_cast<int>(group.members.size()), group.members.data(), &some);
  MPI_Group_free(&all);
  check_mpi(include_rc, "MPI_Group_incl");
  const int create_rc =
      MPI_Comm_create_group(group.world, some, group.tag + kCreateTagOffset, &comm_);
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
