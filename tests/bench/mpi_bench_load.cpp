#include "tests/bench/mpi_bench_load.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>
#include <thread>

namespace bench {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

CpuTime cpu_time() {
  // user, nice, system, idle, iowait, irq, softirq, steal; see proc(5).
  std::array<double, 8> ticks{};
  std::string cpu;
  std::ifstream stat("/proc/stat");
  stat >> cpu;
  for (double& value : ticks) {
    stat >> value;
  }
  const double busy = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7];
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {busy / static_cast<double>(sysconf(_SC_CLK_TCK)),
          seconds(usage.ru_utime) + seconds(usage.ru_stime)};
}

OtherLoad::OtherLoad(MPI_Comm comm) : comm_(comm), start_s_(MPI_Wtime()), start_(cpu_time()) {}

double OtherLoad::share() const {
  const double elapsed_s = MPI_Wtime() - start_s_;
  const CpuTime now = cpu_time();
  double own_s = now.own_s - start_.own_s;
  MPI_Allreduce(MPI_IN_PLACE, &own_s, 1, MPI_DOUBLE, MPI_SUM, comm_);
  double others = (now.machine_s - start_.machine_s - own_s) /
                  (elapsed_s * std::thread::hardware_concurrency());
  MPI_Bcast(&others, 1, MPI_DOUBLE, 0, comm_);
  return others;
}

}  // namespace bench
