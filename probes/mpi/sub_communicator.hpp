// A communicator of the members of a slot alone.
#pragma once

#include "probes/mpi/mpi_probe.hpp"

namespace fleetbench {

// All members construct one and, unless they abandon it, destroy it before MPI_Finalize. Returns
// error codes rather than ending the process. They meet before: whoever misses a member waits in
// an MPI_Recv, and not in the middle of MPI_Comm_create_group, which in Open MPI keeps all later
// communicators of the process waiting. Uses group.tag + 6 and + 7. Throws std::runtime_error.
class SubCommunicator {
 public:
  explicit SubCommunicator(const MpiGroup& group);
  ~SubCommunicator();
  SubCommunicator(const SubCommunicator&) = delete;
  SubCommunicator& operator=(const SubCommunicator&) = delete;

  // Leaves it to the end of the process, for when the others may not come to free it.
  void abandon() { comm_ = MPI_COMM_NULL; }
  MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace fleetbench
