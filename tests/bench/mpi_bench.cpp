// One job of mpi_bench.py: what mpi_pairs and mpi_collectives report, and what a plain MPI program
// measures.
//
// mpirun -np 2 mpi_bench [SECONDS]. The two sides take turns: plain, probe, plain again, in
// changing order, for a fixed number of rounds or until SECONDS have passed. Rounds that others
// disturbed are left out by what the others used, not by what was measured. In each round both
// sides allocate, warm up, measure in short turns and free, so that neither keeps the luckier
// pages. The plain one runs on the main thread; the probe runs as in a fleet, in a thread of its
// own beside a main thread that polls another communicator. Rank 0 prints a line of JSON for each
// figure and three turns:
// {"what", "probe", "plain": [first, second]}.
#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "harness/fleet/measurement_thread.hpp"
#include "probes/mpi/mpi_probe.hpp"
#include "tests/bench/ab_bench.hpp"
#include "tests/bench/mpi_bench_load.hpp"
#include "tests/bench/mpi_bench_sizes.hpp"
#include "tests/bench/mpi_plain.hpp"

namespace fleetbench {
namespace {

constexpr int kRounds = 8;
constexpr int kTriplesPerRound = 3;
// A round during which others used more of the machine than this is not counted, whatever it gave:
// on two CPUs a spinning rank that is descheduled takes its peer with it.
constexpr double kOthersShare = 0.04;

using Figures = std::vector<double>;

struct Job {
  MPI_Comm plain = MPI_COMM_NULL;
  MPI_Comm probes = MPI_COMM_NULL;
  MPI_Comm control = MPI_COMM_NULL;
  int rank = 0;
};

// As a rank does it: the work in its thread, and a look at the control communicator now and then.
void run_in_measurement_thread(const Job& job, const std::function<void()>& work) {
  static fleet::MeasurementThread thread;
  thread.start(work);
  while (thread.busy()) {
    pollfd done{thread.descriptor(), POLLIN, 0};
    poll(&done, 1, 10);
    int arrived = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, job.control, &arrived, MPI_STATUS_IGNORE);
  }
}

Json pair_params() {
  const auto& sizes = bench::kPairSizes;
  return {{"message_bytes", sizes.message_bytes},
          {"window", sizes.window},
          {"bytes", sizes.message_bytes * static_cast<std::size_t>(sizes.window * sizes.windows)},
          {"max_s", 60.0},
          {"latency_bytes", sizes.latency_bytes},
          {"latency_iterations", sizes.batches * sizes.round_trips}};
}

Json sweep_params() {
  return {{"begin_bytes", bench::kSweepBegin}, {"end_bytes", bench::kSweepEnd},
          {"factor", bench::kSweepFactor},     {"iterations", bench::kSweepIterations},
          {"warmup", bench::kSweepWarmup},     {"max_s", 60.0},
          {"collectives", {"all_reduce"}}};
}

std::shared_ptr<Prepared> prepare_probe(const Job& job, const MpiProbe& probe, const Json& params) {
  static int tag = 0;
  tag = (tag + 8) % 8000;
  const MpiGroup group{.world = job.probes, .members = {0, 1}, .me = job.rank, .tag = tag};
  std::shared_ptr<Prepared> prepared;
  run_in_measurement_thread(job, [&] { prepared = probe.prepare(params, Json::object(), group); });
  return prepared;
}

Figures measure_probe(const Job& job, Prepared& prepared) {
  Figures figures;
  run_in_measurement_thread(job, [&] {
    for (const auto& value : prepared.measure().values) {
      figures.push_back(value.value_or(0));
    }
  });
  return figures;
}

// The figures that rank 0 compares: its own, and the bandwidth of rank 1 to rank 0 behind them.
Figures with_bandwidth_of_rank_1(const Job& job, Figures figures) {
  double other = figures.at(0);
  MPI_Bcast(&other, 1, MPI_DOUBLE, 1, job.plain);
  figures.push_back(other);
  return figures;
}

// Both ways to measure the same, allocated and warm.
struct Sides {
  std::function<Figures()> plain;
  std::function<Figures()> probe;
};

// One thing that is measured both ways.
struct Contest {
  std::vector<std::string> names;
  std::function<Sides()> prepare;
};

// Or until it seems in vain: a round that is disturbed is left out in any case.
void wait_until_quiet(const Job& job) {
  constexpr int kPatience = 10;
  int wait = 1;
  for (int i = 0; i < kPatience && wait != 0; ++i) {
    const bench::OtherLoad load(job.plain);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    wait = load.share() > kOthersShare;
  }
}

// Plain, probe, plain again; all orders, so that neither always comes first or after the other.
// Each measures twice and the second counts: the first finds the other side's buffers in the cache,
// which costs 15 %, and would cost the probe more often, as it never follows itself.
std::array<Figures, 3> take_turns(const Sides& sides, int order) {
  std::array<Figures, 3> turns;
  for (const std::size_t turn : ab_bench::kOrders.at(static_cast<std::size_t>(order) % 6)) {
    const auto& measure = turn == 1 ? sides.probe : sides.plain;
    measure();
    turns.at(turn) = measure();
  }
  return turns;
}

void print(const Contest& contest, const std::array<Figures, 3>& turns) {
  for (std::size_t i = 0; i < contest.names.size(); ++i) {
    const Json line = {{"what", contest.names[i]},
                       {"probe", turns[1].at(i)},
                       {"plain", {turns[0].at(i), turns[2].at(i)}}};
    fmt::print("{}\n", line.dump());
  }
}

// Whether the round counts.
bool run_round(const Job& job, const Contest& contest, int round) {
  const Sides sides = contest.prepare();
  const bench::OtherLoad load(job.plain);
  std::vector<std::array<Figures, 3>> triples;
  for (int i = 0; i < kTriplesPerRound; ++i) {
    triples.push_back(take_turns(sides, round + i));
  }
  if (load.share() > kOthersShare) {
    return false;
  }
  for (const auto& turns : triples) {
    if (job.rank == 0) {
      print(contest, turns);
    }
  }
  return true;
}

Contest pairs_contest(const Job& job) {
  return Contest{
      {"bandwidth 0 to 1", "latency", "bandwidth 1 to 0"}, [&job] {
        auto plain = std::make_shared<plain::PairProgram>(job.plain, bench::kPairSizes);
        auto probe = prepare_probe(job, *find_mpi_probe("mpi_pairs"), pair_params());
        return Sides{
            [&job, plain] {
              const plain::Pair pair = plain->measure();
              return with_bandwidth_of_rank_1(job, {pair.bytes_per_s, pair.latency_s});
            },
            [&job, probe] { return with_bandwidth_of_rank_1(job, measure_probe(job, *probe)); }};
      }};
}

Contest collectives_contest(const Job& job) {
  const MpiProbe& collectives = *find_mpi_probe("mpi_collectives");
  std::vector<std::string> names;
  for (const MetricInfo& metric : collectives.metrics(sweep_params())) {
    names.push_back(metric.name);
  }
  return Contest{std::move(names), [&job, &collectives] {
                   auto plain = std::make_shared<plain::AllReduceProgram>(
                       job.plain, bench::sweep_sizes(), bench::kSweepWarmup,
                       bench::kSweepIterations);
                   auto probe = prepare_probe(job, collectives, sweep_params());
                   return Sides{[plain] { return plain->measure(); },
                                [&job, probe] { return measure_probe(job, *probe); }};
                 }};
}

void run(const Job& job, double budget_s) {
  const double end_s = MPI_Wtime() + budget_s;
  for (const Contest& contest : {pairs_contest(job), collectives_contest(job)}) {
    int late = 0;
    for (int round = 0; round < kRounds && late == 0;) {
      wait_until_quiet(job);
      round += run_round(job, contest, round) ? 1 : 0;
      late = MPI_Wtime() > end_s;
      MPI_Bcast(&late, 1, MPI_INT, 0, job.plain);
    }
  }
}

}  // namespace
}  // namespace fleetbench

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2 || provided != MPI_THREAD_MULTIPLE) {
    fmt::print(stderr,
               "mpi_bench: start it with mpirun -np 2 and an MPI with MPI_THREAD_MULTIPLE\n");
    return 64;
  }
  fleetbench::Job job;
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  for (MPI_Comm* comm : {&job.plain, &job.probes, &job.control}) {
    MPI_Comm_dup(MPI_COMM_WORLD, comm);
  }
  MPI_Comm_set_errhandler(job.probes, MPI_ERRORS_RETURN);
  fleetbench::run(job, argc > 1 ? std::atof(argv[1]) : 60);
  for (MPI_Comm* comm : {&job.plain, &job.probes, &job.control}) {
    MPI_Comm_free(comm);
  }
  MPI_Finalize();
  return 0;
}
