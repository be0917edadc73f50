#include "harness/fleet/waiting_meter.hpp"

#include <unistd.h>

#include <ctime>
#include <fstream>

namespace fleetbench::fleet {
namespace {

double clock_s(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double resident_bytes() {
  long pages_in_all = 0;
  long resident = 0;
  std::ifstream("/proc/self/statm") >> pages_in_all >> resident;
  return static_cast<double>(resident * sysconf(_SC_PAGESIZE));
}

}  // namespace

void WaitingMeter::resume() {
  if (!running_) {
    running_ = true;
    wall_start_ = clock_s(CLOCK_MONOTONIC);
    cpu_start_ = clock_s(CLOCK_PROCESS_CPUTIME_ID);
  }
}

void WaitingMeter::pause() {
  if (running_) {
    running_ = false;
    wall_s_ += clock_s(CLOCK_MONOTONIC) - wall_start_;
    cpu_s_ += clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu_start_;
  }
}

Json WaitingMeter::report() const {
  return {{"wait_s", wall_s_}, {"cpu_s", cpu_s_}, {"resident_bytes", resident_bytes()}};
}

}  // namespace fleetbench::fleet
