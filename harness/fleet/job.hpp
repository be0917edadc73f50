// The MPI job as the commands see it: who is in it, and a run over it. Nothing of MPI shows here.
#pragma once

#include <chrono>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include "harness/fleet/observers.hpp"
#include "harness/plan/roster.hpp"
#include "harness/plan/slots.hpp"
#include "harness/worker/worker.hpp"

namespace fleetbench::fleet {

// Something about the MPI job itself is not usable; ends the command with exit code 70.
struct FleetError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The root was told to stop before there was anything to record.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

struct RunOutcome {
  bool interrupted = false;  // by SIGINT or SIGTERM; nothing was asked of the ranks afterwards
  TimeShares time;
  WaitingCost waiting;
};

class Job {
 public:
  using Clock = std::chrono::steady_clock;

  // Joins the job (MPI_Init); all ranks do it together. `worker` measures for this rank's node and
  // must outlive the job. Throws FleetError.
  explicit Job(worker::Worker& worker);
  // Leaves it by MPI_Finalize.
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  int size() const;
  bool is_root() const;

  // For every rank but the root: carries out its orders, returns when the run is over.
  void serve();

  // For the root, in this order. Throws FleetError where ranks run different builds, Interrupted.
  std::vector<plan::RankInfo> gather(Progress& progress);
  // Who is to be measured, and by what. All of it must outlive finish(). `start`: when this process
  // began, which is when the clock of the run did. What led up to here counts as preparation.
  void begin(const std::vector<NodeInfo>& nodes, const std::vector<plan::PlannedStep>& steps,
             RecordSink& sink, Progress& progress, Clock::time_point start);
  // Measures slots, also several times, each with slots of other numbers; none begins after
  // `until_s` on the clock of the run. False where the run is interrupted.
  bool measure(const std::vector<plan::Slot>& slots,
               double until_s = std::numeric_limits<double>::infinity());
  // Ends the agents.
  RunOutcome finish();
  // Once all files are on disk: lets the ranks go, after which MPI_Finalize has some seconds to
  // return. Where it would not, or does not, the whole job is ended with `exit_code`.
  void close(int exit_code);
  // Ends the whole job at once.
  [[noreturn]] void abort(int exit_code);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// The rank that the launcher gave this process, known before MPI_Init; 0 without a launcher.
int rank_given_by_launcher();

// "Open MPI v4.1.4, ..."; can be asked before the job is joined.
std::string mpi_library();

// The probes that run over MPI, in the order in which they are listed.
std::vector<ProbeInfo> probes_over_mpi();
// Precondition: `probe` is one of them.
std::vector<MetricInfo> metrics_over_mpi(const std::string& probe, const Json& params);

}  // namespace fleetbench::fleet
