// What other programs, or the hypervisor, took from this machine while the bench measured.
#pragma once

#include <mpi.h>

namespace bench {

// Seconds of CPU time, over all CPUs, since the machine or the process started.
struct CpuTime {
  double machine_s = 0;  // busy or stolen, anybody
  double own_s = 0;      // the calling process
};
CpuTime cpu_time();  // of /proc/stat (to 10 ms a CPU) and getrusage

// Construct and call share() on all ranks of `comm`, which are all on this machine.
class OtherLoad {
 public:
  explicit OtherLoad(MPI_Comm comm);
  // The mean share of the machine's CPUs that others used since construction; the same on all
  // ranks.
  double share() const;

 private:
  MPI_Comm comm_;
  double start_s_;
  CpuTime start_;
};

}  // namespace bench
