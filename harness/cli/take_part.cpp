#include "harness/cli/take_part.hpp"

#include <cstdlib>

#include "harness/cli/catalog.hpp"
#include "harness/cli/lead.hpp"
#include "harness/cli/start_watch.hpp"
#include "harness/fleet/job.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::cli {
namespace {

// A rank that cannot go on must not wait for the others in MPI_Finalize.
int follow(fleet::Job& job) {
  try {
    job.serve();
    return kOk;
  } catch (const fleet::Interrupted&) {
    std::_Exit(kInconclusive);
  } catch (const std::exception& error) {
    complain(error.what());
    std::_Exit(kInternalError);
  }
}

int lead_to_the_end(fleet::Job& job, RunPlan& plan, std::chrono::steady_clock::time_point start) {
  try {
    return lead(job, plan, start);
  } catch (const fleet::Interrupted& error) {
    complain(error.what());
    job.abort(kInconclusive);
  } catch (const InputError& error) {
    complain(error.what());
    job.abort(kUsageError);
  } catch (const std::exception& error) {
    complain(error.what());
    job.abort(kInternalError);
  }
}

}  // namespace

bool is_root_process() { return fleet::rank_given_by_launcher() == 0; }

int take_part(const RunOptions& options, std::chrono::steady_clock::time_point start,
              const std::function<RunPlan(worker::Worker&)>& make_plan) {
  std::optional<StartWatch> watch;
  watch.emplace(options);
  auto worker = local_worker();
  std::optional<RunPlan> plan;
  if (is_root_process()) {
    plan.emplace(make_plan(worker));
  }
  fleet::Job job(worker, local_gpu_worker);
  watch.reset();
  if (job.is_root() != is_root_process()) {
    complain(
        "the launcher's environment and MPI disagree about which rank this is: start fleetbench by "
        "the launcher of its MPI library, under Slurm by `srun --mpi=pmix`");
    job.abort(kInternalError);
  }
  if (!job.is_root()) {
    return follow(job);
  }
  const int exit_code = lead_to_the_end(job, *plan, start);
  job.close(exit_code);
  return exit_code;
}

}  // namespace fleetbench::cli
