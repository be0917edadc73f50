// Does cpu_gemm report what a bare cblas loop measures?
//
// gemm_bench [SECONDS]: at most so long, ten minutes where nothing is said. Both sides use matrices
// of the same size and the same number of multiplications. See ab_bench.hpp.
// Exit code: 0 all within 3 %, 2 one is not, 3 a control never held.
#include <cblas.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>

#include "probes/registry.hpp"
#include "probes/support/blas_kernel.hpp"
#include "probes/support/median.hpp"
#include "results-schema/check.hpp"
#include "tests/bench/ab_bench.hpp"

namespace fleetbench {
namespace {

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

double probe_rate(const Probe& probe, const Json& params, const Json& work) {
  return probe.prepare(params, work)->measure().values.at(0).value();
}

AbCase make_case(const Probe& probe, const std::string& precision, int iterations,
                 double (*bare)(int, int)) {
  const Json params =
      with_defaults({{"precisions", {precision}}, {"n", kSize}}, probe.info().params_schema);
  const Json work{{"n", kSize}, {"iterations", {{precision, iterations}}}};
  return {.name = precision,
          .plain = [=] { return bare(kSize, iterations); },
          .probe = [&probe, params, work] { return probe_rate(probe, params, work); }};
}

int run(double seconds) {
  const auto probe = make_cpu_gemm();
  return compare_turn_by_turn("cpu_gemm", "FLOP/s", seconds,
                              {make_case(*probe, "fp32", 4, bare_rate<float>),
                               make_case(*probe, "fp64", 2, bare_rate<double>)});
}

}  // namespace
}  // namespace fleetbench

int main(int argc, char** argv) {
  fleetbench::use_vector_kernels(argv);
  return fleetbench::run(argc > 1 ? std::atof(argv[1]) : 600);
}
