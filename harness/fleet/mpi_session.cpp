#include "harness/fleet/mpi_session.hpp"

#include <chrono>
#include <cstdlib>
#include <initializer_list>
#include <thread>

#include "harness/fleet/job.hpp"

namespace fleetbench::fleet {
namespace {

constexpr auto kAbort = std::chrono::seconds(3);

}  // namespace

MpiSession::MpiSession() {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    throw FleetError(
        "this MPI library has no MPI_THREAD_MULTIPLE, which fleetbench needs so that a measurement "
        "that hangs does not hang the run; use an MPI built with thread support");
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  MPI_Comm_dup(MPI_COMM_WORLD, &control_);
  MPI_Comm_dup(MPI_COMM_WORLD, &measuring_);
  for (MPI_Comm comm : {MPI_COMM_WORLD, control_, measuring_}) {
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
}

MpiSession::~MpiSession() { MPI_Finalize(); }

void MpiSession::abort(int exit_code) {
  // Where the launcher is gone MPI_Abort may wait for it for ever.
  std::thread([exit_code] {
    std::this_thread::sleep_for(kAbort);
    std::_Exit(exit_code);
  }).detach();
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

}  // namespace fleetbench::fleet
