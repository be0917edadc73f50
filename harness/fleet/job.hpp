// The MPI job as the commands see it: who is in it, and a run over it. Nothing of MPI shows here.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include "harness/fleet/gpu_runner.hpp"
#include "harness/fleet/observers.hpp"
#include "harness/fleet/slot_state.hpp"
#include "harness/fleet/time_limits.hpp"
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
  // must outlive the job, workers for its GPUs are made as they are needed. Throws FleetError.
  Job(worker::Worker& worker, MakeGpuWorker make_gpu_worker);
  // Leaves it by MPI_Finalize.
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  int size() const;
  bool is_root() const;

  // For every rank but the root: carries out its orders, returns when the run is over.
  void serve();

  // For the root, in this order. Throws FleetError where ranks run different builds, Interrupted.
  // Waits at most so long for who does not report.
  std::vector<plan::RankInfo> gather(Progress& progress, double limit_s);
  // What every rank says of the GPUs that it sees: gpu_inventory's detail, or {"reason"}: why it
  // sees none. A rank that does not answer is lost once the run begins. By rank.
  std::map<int, Json> look_at_gpus(const std::vector<NodeInfo>& nodes, Progress& progress,
                                   double limit_s);
  // The work of a step on GPUs for the whole fleet, tried on one of them. Throws
  // std::runtime_error.
  Json calibrate(const plan::PlannedStep& step, const plan::OwnedGpu& gpu, double limit_s);
  // Who is to be measured, and by what. All of it must outlive finish(). `start`: when this process
  // began, which is when the clock of the run did. What led up to here counts as preparation.
  void begin(const std::vector<NodeInfo>& nodes, const FleetGpus& gpus,
             const std::vector<plan::PlannedStep>& steps, RecordSink& sink, Progress& progress,
             Clock::time_point start);
  // For what the root does between questions, now and then: keeps the ranks from giving it up.
  // Throws Interrupted.
  void attend();
  // Whom else the root tells now and then that it is alive.
  void on_alive(std::function<void()> tell);
  // Measures slots, also several times, each with slots of other numbers. False where the run is
  // interrupted.
  bool measure(const std::vector<plan::Slot>& slots, const TimeLimits& limits);
  // Ends the agents, until `end_s` on the clock of the run.
  RunOutcome finish(double end_s);
  // After an interruption: records who does not answer any more.
  void call_roll();
  TimeShares time() const;
  // Once all files are on disk: lets the ranks go, after which MPI_Finalize has some seconds to
  // return. Where it would not, or does not, the whole job is ended with `exit_code`.
  void close(int exit_code);
  // Ends the whole job at once.
  [[noreturn]] void abort(int exit_code);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// What the launcher gave this process, known before MPI_Init; 0 and 1 without a launcher.
int rank_given_by_launcher();
int ranks_given_by_launcher();

// "Open MPI v4.1.4, ..."; can be asked before the job is joined.
std::string mpi_library();

// The probes that run over MPI, in the order in which they are listed.
std::vector<ProbeInfo> probes_over_mpi();
// Precondition: `probe` is one of them.
std::vector<MetricInfo> metrics_over_mpi(const std::string& probe, const Json& params);

}  // namespace fleetbench::fleet
