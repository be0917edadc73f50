#include "harness/cli/start_watch.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <system_error>

#include "harness/cli/command.hpp"
#include "harness/fleet/job.hpp"

namespace fleetbench::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kFresh = std::chrono::seconds(1);

// The gate has the launcher leave the other ranks alone when one ends; so nobody would end them
// when the launcher itself, or its daemon on this node, is gone.
void end_with_parent() {
  const pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) {
    std::_Exit(kInternalError);
  }
}

}  // namespace

StartWatch::StartWatch(const RunOptions& options) {
  if (options.under_gate) {
    end_with_parent();
    try {
      mark_.emplace(options.out, fleet::rank_given_by_launcher(), fleet::ranks_given_by_launcher());
    } catch (const std::system_error& error) {
      complain(fmt::format("no mark of this rank for the gate: {}", error.what()));
    }
  }
  const double limit_s = options.launch_limit_s;
  thread_ = std::thread([this, limit_s] { watch(limit_s); });
}

StartWatch::~StartWatch() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void StartWatch::watch(double limit_s) {
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(limit_s));
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kFresh, [this] { return over_; })) {
    if (mark_) {
      mark_->say_alive();
    }
    if (Clock::now() > end) {
      complain(
          fmt::format("rank {}: not all ranks came up within {:.0f} s (--launch-limit); start it "
                      "by `fleetbench "
                      "gate` to learn which did not",
                      fleet::rank_given_by_launcher(), limit_s));
      std::_Exit(kInternalError);
    }
  }
}

}  // namespace fleetbench::cli
