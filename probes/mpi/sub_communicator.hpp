// A communicator of the members of a slot alone.
#pragma once

#include "probes/mpi/mpi_probe.hpp"

namespace fleetbench {

// All members construct one and, unless they abandon it, destroy it before MPI_Finalize. Returns
// error codes rather than ending the process. Uses group.tag + 7, and tags from kFirstTag on.
// Throws std::runtime_error.
//
// Who is in the middle of MPI_Comm_create_group when a member is gone stays there, and Open MPI
// lets no other creation of a process with a larger tag begin meanwhile. So members meet before,
// in messages of their own, which nobody else waits for, and later slots have smaller tags.
class SubCommunicator {
 public:
  static constexpr int kFirstTag = 32000;

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
