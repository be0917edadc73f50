// This process's membership in the MPI job.
#pragma once

#include <mpi.h>

namespace fleetbench::fleet {

// Initialises MPI for use from several threads (measurements that can block run in one of their
// own) and ends it. All ranks construct it together. Errors of MPI calls come back as return codes.
class MpiSession {
 public:
  // Throws FleetError where the MPI library has no MPI_THREAD_MULTIPLE.
  MpiSession();
  // Ends MPI by MPI_Finalize; all ranks must get here. Not reached after abort().
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  MPI_Comm control() const { return control_; }      // messages between ranks
  MPI_Comm measuring() const { return measuring_; }  // what probes use

  // Ends the job where MPI_Finalize would wait for ranks that are gone. The only MPI_Abort.
  [[noreturn]] void abort(int exit_code);

 private:
  int rank_ = 0;
  int size_ = 1;
  MPI_Comm control_ = MPI_COMM_NULL;
  MPI_Comm measuring_ = MPI_COMM_NULL;
};

}  // namespace fleetbench::fleet
