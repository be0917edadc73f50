#include "probes/support/fixed_work.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <exception>
#include <stdexcept>

namespace fleetbench {
namespace {

class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const auto& run : runs) {
      if (run.run_type == Run::RT_Iteration && !run.error_occurred) {
        seconds.push_back(run.real_accumulated_time / static_cast<double>(run.iterations));
        iterations.push_back(run.iterations);
      }
    }
  }

  std::vector<double> seconds;
  std::vector<std::int64_t> iterations;
};

// Runs what `configure` makes of a registered benchmark.
Collector run_one(const std::string& name, const std::function<void()>& body,
                  const std::function<void(benchmark::internal::Benchmark*)>& configure) {
  std::exception_ptr failure;
  auto* registered = benchmark::RegisterBenchmark(name.c_str(), [&](benchmark::State& state) {
    try {
      for (auto _ : state) {
        body();
      }
    } catch (...) {
      failure = std::current_exception();
      state.SkipWithError("the body threw");
    }
  });
  registered->UseRealTime();
  configure(registered);
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector, ".");
  benchmark::ClearRegisteredBenchmarks();
  if (failure) {
    std::rethrow_exception(failure);
  }
  if (collector.seconds.empty()) {
    throw std::runtime_error(name + ": Google Benchmark ran nothing");
  }
  return collector;
}

}  // namespace

std::vector<double> time_fixed_work(const std::string& name, std::int64_t iterations,
                                    int repetitions, const std::function<void()>& body) {
  return run_one(name, body,
                 [&](benchmark::internal::Benchmark* benchmark) {
                   benchmark->Iterations(iterations)->Repetitions(repetitions);
                 })
      .seconds;
}

std::int64_t iterations_for(const std::string& name, double target_s,
                            const std::function<void()>& body) {
  const auto collector = run_one(
      name, body, [&](benchmark::internal::Benchmark* benchmark) { benchmark->MinTime(target_s); });
  const double wanted = target_s / collector.seconds.back();
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(wanted + 0.5));
}

}  // namespace fleetbench
