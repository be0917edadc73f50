// Return codes of MPI as exceptions. The communicator must have MPI_ERRORS_RETURN, else MPI ends
// the process before anybody sees a code.
#pragma once

#include <mpi.h>

#include <chrono>

namespace fleetbench {

// Throws std::runtime_error "MPI_Send to rank 3: MPI_ERR_TRUNCATE: message truncated". Called as
// throw_mpi_error(rc, "MPI_Send to rank", 3); a negative rank leaves the number out.
[[noreturn]] void throw_mpi_error(int rc, const char* call, int rank);

// The text is made only when the call failed: this stands in loops of half a microsecond.
inline void check_mpi(int rc, const char* call, int rank = -1) {
  if (rc != MPI_SUCCESS) [[unlikely]] {
    throw_mpi_error(rc, call, rank);
  }
}

class Stopwatch {
 public:
  double elapsed_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace fleetbench
