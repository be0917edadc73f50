// Does cpu_gemm report what a bare cblas loop measures?
//
// gemm_bench [SECONDS]. In one process, turn by turn: bare loop, probe, bare loop again, all with
// the same matrices' size and number of multiplications. A figure's ratio is the median over turns
// of probe / bare; its control is the same of the second bare loop / the first. Turns are added
// until every control is within 2 %, ten minutes at most; then the ratios are judged.
// Exit code: 0 all within 3 %, 2 one is not, 3 a control never held.
#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>

#include "probes/registry.hpp"
#include "probes/support/blas_kernel.hpp"
#include "probes/support/median.hpp"
#include "results-schema/check.hpp"

namespace fleetbench {
namespace {

constexpr double kRatio = 0.03;
constexpr double kControl = 0.02;
constexpr std::size_t kFewestTurns = 40;
constexpr int kRepetitions = 5;
constexpr int kSize = 1024;

using Clock = std::chrono::steady_clock;

void multiply(int n, const std::vector<float>& a, const std::vector<float>& b,
              std::vector<float>& c) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a.data(), n, b.data(), n, 0,
              c.data(), n);
}

void multiply(int n, const std::vector<double>& a, const std::vector<double>& b,
              std::vector<double>& c) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a.data(), n, b.data(), n, 0,
              c.data(), n);
}

// FLOP/s of the median repetition.
template <typename T>
double bare_rate(int n, int iterations) {
  const auto count = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  std::vector<T> a(count);
  std::vector<T> b(count);
  std::vector<T> c(count);
  std::minstd_rand generator(1);
  const auto next = [&] { return static_cast<T>(generator()) / static_cast<T>(1U << 31); };
  std::generate(a.begin(), a.end(), next);
  std::generate(b.begin(), b.end(), next);
  // As often as the probe does before it measures: once to check, once to warm up.
  multiply(n, a, b, c);
  multiply(n, a, b, c);
  std::vector<double> seconds;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    const auto start = Clock::now();
    for (int i = 0; i < iterations; ++i) {
      multiply(n, a, b, c);
    }
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  return 2.0 * n * n * n * iterations / median(seconds);
}

struct Figure {
  std::vector<double> probe;
  std::vector<double> ratios;
  std::vector<double> controls;

  void add(double first, double measured, double second) {
    probe.push_back(measured);
    ratios.push_back(measured / std::sqrt(first * second));
    controls.push_back(second / first);
  }
  bool control_holds() const {
    return controls.size() >= kFewestTurns && std::abs(median(controls) - 1) <= kControl;
  }
  bool ratio_holds() const { return std::abs(median(ratios) - 1) <= kRatio; }
};

double probe_rate(const Probe& probe, const Json& params, const Json& work) {
  return probe.prepare(params, work)->measure().values.at(0).value();
}

int run(double seconds) {
  const auto probe = make_cpu_gemm();
  std::map<std::string, Figure> figures;
  const auto start = Clock::now();
  const auto done = [&] {
    return figures.size() == 2 && std::all_of(figures.begin(), figures.end(), [](const auto& f) {
             return f.second.control_holds();
           });
  };
  while (!done() && std::chrono::duration<double>(Clock::now() - start).count() < seconds) {
    for (const char* precision : {"fp32", "fp64"}) {
      const Json params =
          with_defaults({{"precisions", {precision}}, {"n", kSize}}, probe->info().params_schema);
      const int iterations = precision == std::string("fp32") ? 4 : 2;
      const Json work{{"n", kSize}, {"iterations", {{precision, iterations}}}};
      const auto bare = precision == std::string("fp32") ? bare_rate<float> : bare_rate<double>;
      const double first = bare(kSize, iterations);
      const double measured = probe_rate(*probe, params, work);
      figures[precision].add(first, measured, bare(kSize, iterations));
    }
  }
  fmt::print("{:<16}{:>14}{:>8}{:>9}{:>7}\n", "cpu_gemm", "FLOP/s", "ratio", "control", "turns");
  for (const auto& [name, figure] : figures) {
    fmt::print("{:<16}{:>14.4g}{:>8.3f}{:>9.3f}{:>7}\n", name, median(figure.probe),
               median(figure.ratios), median(figure.controls), figure.ratios.size());
  }
  if (!done()) {
    fmt::print("the control does not hold: this machine is too busy to compare anything on it\n");
    return 3;
  }
  const bool same = std::all_of(figures.begin(), figures.end(),
                                [](const auto& f) { return f.second.ratio_holds(); });
  fmt::print("{}\n", same ? "the probe reports what the bare loop measures"
                          : "the probe differs from the bare loop");
  return same ? 0 : 2;
}

}  // namespace
}  // namespace fleetbench

int main(int argc, char** argv) {
  fleetbench::use_vector_kernels(argv);
  return fleetbench::run(argc > 1 ? std::atof(argv[1]) : 600);
}
