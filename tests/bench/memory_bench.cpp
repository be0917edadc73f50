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
#include <functional>
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
constexpr int kIterations = 2;

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

// The same loops as the probe's: two that read alike are compiled into different ones here and
// there, and what is to be compared is all around them.
void copy(const Arrays& own) { memory_kernels::copy(own.c, own.b, own.count); }
void triad(const Arrays& own) { memory_kernels::triad(own.a, own.b, own.c, own.count); }
void read(const Arrays& own) {
  sink.store(memory_kernels::read(own.a, own.count), std::memory_order_relaxed);
}

// As STREAM does: three arrays, touched first by the thread that works on them, and one loop after
// the other over them.
class BareStream {
 public:
  explicit BareStream(std::size_t array_bytes)
      : a_(array_bytes), b_(array_bytes), c_(array_bytes), array_bytes_(array_bytes) {
    on_all_cores([](const Arrays& own, std::barrier<>& together, std::size_t /*thread*/) {
      together.arrive_and_wait();
      for (double* array : {own.a, own.b, own.c}) {
        for (std::size_t i = 0; i < own.count; ++i) {
          array[i] = static_cast<double>(i % kBlock);
        }
      }
    });
  }

  // Bytes per second of copy, triad and read, as STREAM counts arrays; of the median repetition.
  std::vector<double> rates() { return {rate(copy, 2), rate(triad, 3), rate(read, 1)}; }

 private:
  using Body = std::function<void(const Arrays&, std::barrier<>&, std::size_t)>;

  double rate(Loop loop, int counted) {
    std::vector<std::vector<Stamps>> stamps(cpus_.size(), std::vector<Stamps>(kRepetitions));
    on_all_cores([&](const Arrays& own, std::barrier<>& together, std::size_t thread) {
      for (Stamps& repetition : stamps[thread]) {
        together.arrive_and_wait();
        repetition.begin = Clock::now();
        for (int i = 0; i < kIterations; ++i) {
          loop(own);
        }
        repetition.end = Clock::now();
      }
    });
    return static_cast<double>(counted) * static_cast<double>(array_bytes_) * kIterations /
           median(seconds_of(stamps));
  }

  void on_all_cores(const Body& body) {
    const std::size_t own = array_bytes_ / sizeof(double) / cpus_.size();
    std::barrier<> together(static_cast<std::ptrdiff_t>(cpus_.size()));
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < cpus_.size(); ++i) {
      threads.emplace_back([&, i] {
        bind_to(cpus_[i]);
        const auto part = [&](const Pages& array) { return array.as<double>().data() + i * own; };
        body({part(a_), part(b_), part(c_), own}, together, i);
      });
    }
    for (auto& thread : threads) {
      thread.join();
    }
  }

  std::vector<int> cpus_ = MachineTopology().cpus();
  Pages a_;
  Pages b_;
  Pages c_;
  std::size_t array_bytes_;
};

int run(double seconds) {
  const auto probe = make_host_memory();
  const Json params =
      with_defaults({{"times_cache", 0}, {"min_bytes", kArrayBytes}}, probe->info().params_schema);
  Json work = probe->calibrate(params);  // whole blocks for each thread
  work["iterations"] = {{"copy", kIterations}, {"triad", kIterations}, {"read", kIterations}};
  const auto bytes = work.at("array_bytes").get<std::size_t>();
  const auto plain = [&]() -> PreparedFigures {
    auto stream = std::make_shared<BareStream>(bytes);
    return [stream] { return stream->rates(); };
  };
  const auto probed = [&]() -> PreparedFigures {
    const std::shared_ptr<Prepared> prepared = probe->prepare(params, work);
    return [prepared] {
      const Values values = prepared->measure().values;
      return std::vector<double>{values.at(0).value(), values.at(1).value(), values.at(2).value()};
    };
  };
  return compare_side_by_side("host_memory", "B/s", seconds, {"copy", "triad", "read"}, plain,
                              probed);
}

}  // namespace
}  // namespace fleetbench

int main(int argc, char** argv) { return fleetbench::run(argc > 1 ? std::atof(argv[1]) : 600); }
