#include "harness/fleet/job.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <optional>
#include <thread>

#include "harness/fleet/agent.hpp"
#include "harness/fleet/controller.hpp"
#include "harness/fleet/gpu_questions.hpp"
#include "harness/fleet/lobby.hpp"
#include "harness/fleet/mpi_session.hpp"
#include "harness/fleet/patience.hpp"
#include "harness/fleet/serve_root.hpp"
#include "probes/mpi/mpi_probe.hpp"

namespace fleetbench::fleet {
namespace {

// How often this process was asked to stop. A launcher may ask twice at once, the process and its
// group; who asks more often is a person in a hurry.
std::atomic<int> stop_requested = 0;
constexpr int kHurry = 3;

// The root must have time to save its files, and the others to answer when it calls the roll.
void stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int signal) {
    if (++stop_requested >= kHurry) {
      _exit(128 + signal);
    }
  };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

// A message to a rank that is gone never leaves; to the others it takes moments.
constexpr int kFlush_ms = 500;
// Launchers send SIGKILL about a second after SIGTERM.
constexpr double kRoll_s = 0.4;
// A rank that stops after it said good-bye would keep the others in MPI_Finalize for ever.
constexpr auto kFinalize = std::chrono::seconds(20);

int first_number(std::initializer_list<const char*> variables, int otherwise) {
  for (const char* name : variables) {
    if (const char* text = std::getenv(name)) {
      return std::atoi(text);
    }
  }
  return otherwise;
}

void end_process_after(std::chrono::seconds patience, int exit_code) {
  std::thread([=] {
    std::this_thread::sleep_for(patience);
    std::_Exit(exit_code);
  }).detach();
}

}  // namespace

struct Job::Parts {
  Parts(worker::Worker& worker, MakeGpuWorker make_gpu_worker)
      : to_root(session.control(), kTagToAgent, kTagToRoot),
        to_agents(session.control(), kTagToRoot, kTagToAgent),
        agent(to_root, session.measuring(), worker, std::move(make_gpu_worker)),
        conversation(to_agents, [this](bool news) { turn(news); }) {
    to_root.send(kRoot, hello());
  }

  // The root is an agent like any other between its own questions.
  void turn(bool news) {
    if (stop_requested > 0 && !interrupted) {
      throw Interrupted();
    }
    say_alive();
    if (agent.tick() || news) {
      patience.reset();
    } else {
      patience.wait(Patience::kRoot, agent.descriptors());
    }
  }

  void say_alive() {
    if (Clock::now() < next_alive) {
      return;
    }
    next_alive = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                    std::chrono::duration<double>(kAliveInterval_s));
    for (int rank = 0; rank < session.size(); ++rank) {
      if (!controller || !controller->is_lost(rank)) {
        to_agents.send(rank, {{"do", "alive"}});
      }
    }
    tell_alive();
  }

  MpiSession session;
  Mailbox to_root;    // what an agent reads and writes
  Mailbox to_agents;  // what the root reads and writes
  Agent agent;
  Patience patience;
  Conversation conversation;
  Clock::time_point next_alive;
  std::function<void()> tell_alive = [] {};
  std::function<double()> now_s;  // from begin() on: seconds since the run began
  double begun_s = 0;
  std::optional<Controller> controller;
  std::map<int, std::string> lost_while_looking;
  bool interrupted = false;
  bool may_finalize = true;
};

Job::Job(worker::Worker& worker, MakeGpuWorker make_gpu_worker) {
  // malloc_trim gives back the free end of the first arena alone; a measurement thread with an
  // arena of its own would keep what MPI took for its largest message.
  mallopt(M_ARENA_MAX, 1);
  parts_ = std::make_unique<Parts>(worker, std::move(make_gpu_worker));
  stop_on_signals();
}

Job::~Job() = default;

int Job::size() const { return parts_->session.size(); }

bool Job::is_root() const { return parts_->session.rank() == kRoot; }

void Job::serve() {
  serve_root(parts_->agent, [] { return stop_requested > 0; });
}

std::vector<plan::RankInfo> Job::gather(Progress& progress, double limit_s) {
  return fleet::gather(parts_->conversation, size(), progress, limit_s);
}

void Job::attend() { parts_->turn(false); }

void Job::on_alive(std::function<void()> tell) { parts_->tell_alive = std::move(tell); }

std::map<int, Json> Job::look_at_gpus(const std::vector<NodeInfo>& nodes, Progress& progress,
                                      double limit_s) {
  return fleet::look_at_gpus(parts_->conversation, nodes, progress, limit_s,
                             parts_->lost_while_looking);
}

Json Job::calibrate(const plan::PlannedStep& step, const plan::OwnedGpu& gpu, double limit_s) {
  return fleet::calibrate(parts_->conversation, step, gpu, limit_s, parts_->lost_while_looking);
}

void Job::begin(const std::vector<NodeInfo>& nodes, const FleetGpus& gpus,
                const std::vector<plan::PlannedStep>& steps, RecordSink& sink, Progress& progress,
                Clock::time_point start) {
  const auto now_s = [start] {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  parts_->now_s = now_s;
  parts_->begun_s = now_s();
  auto& controller =
      parts_->controller.emplace(parts_->conversation, nodes, gpus, steps, sink, progress, now_s);
  for (const auto& node : nodes) {
    if (node.ranks.empty()) {
      controller.miss(node.index, "it did not come up");
    } else if (node.name == plan::name_of_silent_rank(node.leader())) {
      controller.lose(node.leader(), "start", "it came up but did not say who it is");
    }
  }
  for (const auto& [rank, reason] : parts_->lost_while_looking) {
    controller.lose(rank, "looking for GPUs", reason);
  }
}

bool Job::measure(const std::vector<plan::Slot>& slots, const TimeLimits& limits) {
  try {
    if (!parts_->interrupted) {
      parts_->controller->run(slots, limits);
    }
  } catch (const Interrupted&) {
    parts_->interrupted = true;
  }
  return !parts_->interrupted;
}

RunOutcome Job::finish(double end_s) {
  Controller& controller = *parts_->controller;
  RunOutcome outcome;
  try {
    if (!parts_->interrupted) {
      outcome.waiting = controller.finish(end_s);
    }
  } catch (const Interrupted&) {
    parts_->interrupted = true;
  }
  outcome.interrupted = parts_->interrupted;
  parts_->may_finalize = controller.may_finalize() && !parts_->interrupted;
  outcome.time = time();
  return outcome;
}

TimeShares Job::time() const {
  return {.wall_s = parts_->now_s(),
          .preparation_s = parts_->begun_s + parts_->controller->preparation_s(),
          .measurement_s = parts_->controller->measurement_s()};
}

void Job::call_roll() { parts_->controller->call_roll(kRoll_s); }

void Job::close(int exit_code) {
  if (stop_requested > 0 || !parts_->may_finalize) {
    std::fflush(nullptr);
    abort(exit_code);
  }
  for (int rank = 0; rank < size(); ++rank) {
    parts_->conversation.tell(rank, {{"do", "close"}});
  }
  for (int ms = 0; ms < kFlush_ms && !parts_->to_agents.all_sent(); ++ms) {
    usleep(1000);
  }
  std::fflush(nullptr);
  end_process_after(kFinalize, exit_code);
}

void Job::abort(int exit_code) { parts_->session.abort(exit_code); }

int rank_given_by_launcher() {
  return first_number({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}, 0);
}

int ranks_given_by_launcher() {
  return first_number({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}, 1);
}

std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  return {text, text + length};
}

std::vector<ProbeInfo> probes_over_mpi() {
  std::vector<ProbeInfo> infos;
  for (const auto& probe : mpi_probes()) {
    infos.push_back(probe->info());
  }
  return infos;
}

std::vector<MetricInfo> metrics_over_mpi(const std::string& probe, const Json& params) {
  return find_mpi_probe(probe)->metrics(params);
}

}  // namespace fleetbench::fleet
