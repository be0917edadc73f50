// Does host_memory report what bare loops over arrays of the same size measure?
//
// memory_bench [SECONDS]: at most so long, ten minutes where nothing is said. See ab_bench.hpp.
// Exit code: 0 all within 3 %, 2 one is not, 3 a control never held.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "probes/memory/memory_kernels.hpp"
#include "probes/registry.hpp"
#include "probes/support/machine_topology.hpp"
#include "probes/support/pages.hpp"
#include "results-schema/check.hpp"
#include "tests/bench/ab_bench.hpp"

namespace fleetbench {
namespace {

constexpr int kRepetitions = 5;
constexpr std::size_t kBlock = 1024;  // elements
// Smaller than the probe's own, so that ten minutes hold enough turns; both sides have the same.
constexpr std::size_t kArrayBytes = std::size_t{64} << 20;
constexpr int kIterations = 6;
constexpr int kWarmUp = 4;

using Clock = std::chrono::steady_clock;

struct Arrays {
  double* a;
  double* b;
  double* c;
  std::size_t count;
};
using Loop = void (*)(const Arrays&);
std::atomic<double> sink = 0;  // what a thread read goes here, or the reading could be left out

void bind_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

struct Stamps {
  Clock::time_point begin;
  Clock::time_point end;
};

// Touches its own part first, then runs with the others, and notes from when to when.
class BareThread {
 public:
  BareThread(const Arrays& arrays, std::barrier<>& together) : own_(arrays), together_(together) {}

  std::vector<Stamps> run(Loop loop, int iterations) const {
    together_.arrive_and_wait();  // all at once, as the probe: what lies where follows from it
    // One array after the other, as the probe: where pages are touched in turn, neighbours in
    // memory belong to three arrays, and reading one of them skips the others.
    for (double* array : {own_.a, own_.b, own_.c}) {
      for (std::size_t i = 0; i < own_.count; ++i) {
        array[i] = static_cast<double>(i % kBlock);
      }
    }
    // The probe has been over its arrays several times to check them before it measures.
    for (int i = 0; i < kWarmUp; ++i) {
      loop(own_);
    }
    std::vector<Stamps> stamps(kRepetitions);
    for (Stamps& repetition : stamps) {
      together_.arrive_and_wait();
      repetition.begin = Clock::now();
      for (int i = 0; i < iterations; ++i) {
        loop(own_);
      }
      repetition.end = Clock::now();
    }
    return stamps;
  }

 private:
  Arrays own_;
  std::barrier<>& together_;
};

// From when the first thread began to when the last one was done, of each repetition.
std::vector<double> seconds_of(const std::vector<std::vector<Stamps>>& threads) {
  std::vector<double> seconds;
  for (std::size_t repetition = 0; repetition < kRepetitions; ++repetition) {
    Stamps all = threads.front()[repetition];
    for (const auto& thread : threads) {
      all.begin = std::min(all.begin, thread[repetition].begin);
      all.end = std::max(all.end, thread[repetition].end);
    }
    seconds.push_back(std::chrono::duration<double>(all.end - all.begin).count());
  }
  return seconds;
}

// Bytes per second of the median repetition; `counted` arrays as STREAM counts.
double bare_rate(Loop loop, int counted, std::size_t array_bytes, int iterations) {
  const auto cpus = MachineTopology().cpus();
  const std::size_t own = array_bytes / sizeof(double) / cpus.size();
  const Pages a(array_bytes);
  const Pages b(array_bytes);
  const Pages c(array_bytes);
  std::barrier<> together(static_cast<std::ptrdiff_t>(cpus.size()));
  std::vector<std::vector<Stamps>> stamps(cpus.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    threads.emplace_back([&, i] {
      bind_to(cpus[i]);
      const auto part = [&](const Pages& array) { return array.as<double>().data() + i * own; };
      const BareThread thread({part(a), part(b), part(c), own}, together);
      stamps[i] = thread.run(loop, iterations);
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  return static_cast<double>(counted) * static_cast<double>(array_bytes) * iterations /
         median(seconds_of(stamps));
}

// The same loops as the probe's: two that read alike are compiled into different ones here and
// there, and what is to be compared is all around them.
void copy(const Arrays& own) { memory_kernels::copy(own.c, own.b, own.count); }
void triad(const Arrays& own) { memory_kernels::triad(own.a, own.b, own.c, own.count); }
void read(const Arrays& own) {
  sink.store(memory_kernels::read(own.a, own.count), std::memory_order_relaxed);
}

int run(double seconds) {
  const auto probe = make_host_memory();
  const Json params =
      with_defaults({{"times_cache", 0}, {"min_bytes", kArrayBytes}}, probe->info().params_schema);
  Json work = probe->calibrate(params);  // whole blocks for each thread
  work["iterations"] = {{"copy", kIterations}, {"triad", kIterations}, {"read", kIterations}};
  const auto bytes = work.at("array_bytes").get<std::size_t>();
  const auto make_case = [&](const char* name, std::size_t value, Loop loop, int counted) {
    return AbCase{.name = name,
                  .plain = [=] { return bare_rate(loop, counted, bytes, kIterations); },
                  .probe =
                      [&, value] {
                        return probe->prepare(params, work)->measure().values.at(value).value();
                      }};
  };
  return compare_turn_by_turn("host_memory", "B/s", seconds,
                              {make_case("copy", 0, copy, 2), make_case("triad", 1, triad, 3),
                               make_case("read", 2, read, 1)});
}

}  // namespace
}  // namespace fleetbench

int main(int argc, char** argv) { return fleetbench::run(argc > 1 ? std::atof(argv[1]) : 600); }
