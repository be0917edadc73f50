// Does host_memory report what bare loops over arrays of the same size measure?
//
// memory_bench [SECONDS]: at most so long, ten minutes where nothing is said. See ab_bench.hpp.
// Exit code: 0 all within 3 %, 2 one is not, 3 a control never held.
#include <sched.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

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
constexpr int kIterations = 2;

using Clock = std::chrono::steady_clock;

struct Arrays {
  double* __restrict a;
  double* __restrict b;
  double* __restrict c;
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

// Touches its own part first, then runs with the others, timed by the first thread.
class BareThread {
 public:
  BareThread(const Arrays& arrays, std::barrier<>& together) : own_(arrays), together_(together) {}

  std::vector<double> run(Loop loop, int iterations) const {
    for (std::size_t i = 0; i < own_.count; ++i) {
      own_.a[i] = own_.b[i] = own_.c[i] = static_cast<double>(i % kBlock);
    }
    std::vector<double> seconds;
    for (int repetition = 0; repetition < kRepetitions; ++repetition) {
      together_.arrive_and_wait();
      const auto start = Clock::now();
      for (int i = 0; i < iterations; ++i) {
        loop(own_);
      }
      together_.arrive_and_wait();
      seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    return seconds;
  }

 private:
  Arrays own_;
  std::barrier<>& together_;
};

// Bytes per second of the median repetition; `counted` arrays as STREAM counts.
double bare_rate(Loop loop, int counted, std::size_t array_bytes, int iterations) {
  const auto cpus = MachineTopology().cpus();
  const std::size_t own = array_bytes / sizeof(double) / cpus.size();
  const Pages a(array_bytes);
  const Pages b(array_bytes);
  const Pages c(array_bytes);
  std::barrier<> together(static_cast<std::ptrdiff_t>(cpus.size()));
  std::vector<double> seconds;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    threads.emplace_back([&, i] {
      bind_to(cpus[i]);
      const auto part = [&](const Pages& array) { return array.as<double>().data() + i * own; };
      const BareThread thread({part(a), part(b), part(c), own}, together);
      const auto times = thread.run(loop, iterations);
      if (i == 0) {
        seconds = times;
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  return static_cast<double>(counted) * static_cast<double>(array_bytes) * iterations /
         median(seconds);
}

void copy(const Arrays& own) {
  for (std::size_t i = 0; i < own.count; ++i) {
    own.c[i] = own.b[i];
  }
}

void triad(const Arrays& own) {
  for (std::size_t i = 0; i < own.count; ++i) {
    own.a[i] = own.b[i] + 3.0 * own.c[i];
  }
}

void read(const Arrays& own) {
  double sums[16] = {};
  for (std::size_t i = 0; i < own.count; i += 16) {
    for (std::size_t j = 0; j < 16; ++j) {
      sums[j] += own.a[i + j];
    }
  }
  for (const double sum : sums) {
    sink.store(sum, std::memory_order_relaxed);
  }
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
