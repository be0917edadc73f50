// Matrix multiplication on all cores that this process may use, through OpenBLAS.
//
// The rate is measured on random data. Correctness is checked on small integers, whose sums are
// exact in every precision used here, by Freivalds' method: C = A·B holds if C·r = A·(B·r) for a
// random vector r; in 64-bit integers that wrap around a false C passes with a chance of about
// 2^-63. (R. Freivalds, "Probabilistic machines can use less running time", IFIP 1977.)
#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include "probes/registry.hpp"
#include "probes/support/fixed_work.hpp"
#include "probes/support/median.hpp"
#include "probes/support/pages.hpp"
#include "probes/support/usable_cores.hpp"

namespace fleetbench {
namespace {

// Odd counts have a median that was measured; five let one disturbance pass without a trace.
constexpr int kRepetitions = 5;
// One multiplication takes at most this long on the calibrating node, so that a repetition holds
// several of them also on a machine that is ten times as slow.
constexpr double kLongestMultiplication_s = 0.01;

void multiply(int n, const float* a, const float* b, float* c) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0F, a, n, b, n, 0.0F, c, n);
}

void multiply(int n, const double* a, const double* b, double* c) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0, a, n, b, n, 0.0, c, n);
}

std::size_t elements(int n) { return static_cast<std::size_t>(n) * static_cast<std::size_t>(n); }

template <typename T>
class Matrices {
 public:
  explicit Matrices(int n)
      : n_(n),
        a_pages_(elements(n) * sizeof(T)),
        b_pages_(elements(n) * sizeof(T)),
        c_pages_(elements(n) * sizeof(T)) {}

  void fill_random() {
    std::minstd_rand generator(20221129);
    const auto next = [&] {
      return static_cast<T>(generator()) / static_cast<T>(1U << 31) - T(0.5);
    };
    std::generate_n(a_.data(), elements(n_), next);
    std::generate_n(b_.data(), elements(n_), next);
  }

  void multiply_once() { multiply(n_, a_.data(), b_.data(), c_.data()); }

  // Throws WrongResult naming the first row that is false.
  void check_exactly(const char* precision) {
    std::minstd_rand generator(7);
    const auto next = [&] { return static_cast<T>(static_cast<int>(generator() >> 8U) % 17 - 8); };
    std::generate_n(a_.data(), elements(n_), next);
    std::generate_n(b_.data(), elements(n_), next);
    multiply_once();
    const int row = first_false_row();
    if (row >= 0) {
      throw WrongResult(fmt::format(
          "{} product of {}x{} matrices of small integers is false in row {}: this machine "
          "computes wrong results",
          precision, n_, n_, row));
    }
  }

 private:
  using Integers = std::vector<std::uint64_t>;  // unsigned: wraps around without undefined results

  static bool is_integer(T value) {
    return std::abs(value) < T(1 << 24) && value == std::nearbyint(value);
  }

  // -1 where no row is false.
  int first_false_row() const {
    std::mt19937_64 generator(11);
    Integers r(static_cast<std::size_t>(n_));
    std::generate(r.begin(), r.end(), generator);
    Integers b_r(r.size());
    for (int row = 0; row < n_; ++row) {
      b_r[static_cast<std::size_t>(row)] = row_times(b_, row, r);
    }
    for (int row = 0; row < n_; ++row) {
      if (!row_is_integer(row) || row_times(c_, row, r) != row_times(a_, row, b_r)) {
        return row;
      }
    }
    return -1;
  }

  bool row_is_integer(int row) const {
    const T* values = c_.data() + static_cast<std::size_t>(n_) * static_cast<std::size_t>(row);
    return std::all_of(values, values + n_, is_integer);
  }

  std::uint64_t row_times(std::span<const T> matrix, int row, const Integers& vector) const {
    const T* values = matrix.data() + vector.size() * static_cast<std::size_t>(row);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < vector.size(); ++i) {
      sum += static_cast<std::uint64_t>(static_cast<std::int64_t>(values[i])) * vector[i];
    }
    return sum;
  }

  int n_;
  Pages a_pages_;
  Pages b_pages_;
  Pages c_pages_;
  std::span<T> a_ = a_pages_.as<T>();
  std::span<T> b_ = b_pages_.as<T>();
  std::span<T> c_ = c_pages_.as<T>();
};

double flop(int n) { return 2.0 * n * n * n; }

class Ready {
 public:
  virtual ~Ready() = default;
  virtual std::vector<double> time(std::int64_t iterations) = 0;
  virtual std::int64_t iterations_for_seconds(double seconds) = 0;
};

// Checked, filled with random data and warm once constructed.
template <typename T>
class ReadyIn : public Ready {
 public:
  ReadyIn(int n, const std::string& precision) : precision_(precision), matrices_(n) {
    matrices_.check_exactly(precision.c_str());
    matrices_.fill_random();
    matrices_.multiply_once();
  }
  std::vector<double> time(std::int64_t iterations) override {
    return time_fixed_work(precision_, iterations, kRepetitions,
                           [&] { matrices_.multiply_once(); });
  }
  std::int64_t iterations_for_seconds(double seconds) override {
    return iterations_for(precision_, seconds, [&] { matrices_.multiply_once(); });
  }

 private:
  std::string precision_;
  Matrices<T> matrices_;
};

std::unique_ptr<Ready> make_ready(const std::string& precision, int n) {
  if (precision == "fp32") {
    return std::make_unique<ReadyIn<float>>(n, precision);
  }
  return std::make_unique<ReadyIn<double>>(n, precision);
}

class PreparedGemm : public Prepared {
 public:
  PreparedGemm(const Json& params, const Json& work) : n_(work.at("n").get<int>()) {
    for (const auto& precision : params.at("precisions")) {
      const auto name = precision.get<std::string>();
      ready_.push_back(make_ready(name, n_));
      iterations_.push_back(work.at("iterations").at(name).get<std::int64_t>());
    }
  }

  Measurement measure() override {
    Measurement measurement;
    Json repetitions = Json::array();
    for (std::size_t i = 0; i < ready_.size(); ++i) {
      const auto seconds = ready_[i]->time(iterations_[i]);
      measurement.values.emplace_back(flop(n_) / median(seconds));
      repetitions.push_back(seconds);
    }
    measurement.detail = {{"n", n_},
                          {"threads", openblas_get_num_threads()},
                          {"kernel", openblas_get_corename()},
                          {"repetition_s", std::move(repetitions)}};
    return measurement;
  }

 private:
  int n_;
  std::vector<std::unique_ptr<Ready>> ready_;
  std::vector<std::int64_t> iterations_;
};

class CpuGemm : public Probe {
 public:
  // Left to itself OpenBLAS takes a thread for every hardware thread.
  CpuGemm() { openblas_set_num_threads(usable_cores()); }

  ProbeInfo info() const override {
    return {.name = "cpu_gemm",
            .summary = "matrix multiplication on all cores (OpenBLAS), fp32 and fp64",
            .layer = Layer::host,
            .participants = Participants::node,
            .params_schema = params_schema()};
  }

  std::vector<MetricInfo> metrics(const Json& params) const override {
    std::vector<MetricInfo> metrics;
    for (const auto& precision : params.at("precisions")) {
      metrics.push_back(metric(precision.get<std::string>()));
    }
    return metrics;
  }

  Json calibrate(const Json& params) const override {
    const int n = params.at("n").get<int>() > 0 ? params.at("n").get<int>() : largest_quick_n();
    const double repetition_s = params.at("seconds").get<double>() / kRepetitions;
    Json iterations = Json::object();
    for (const auto& precision : params.at("precisions")) {
      const auto name = precision.get<std::string>();
      iterations[name] = make_ready(name, n)->iterations_for_seconds(repetition_s);
    }
    return {{"n", n}, {"iterations", std::move(iterations)}};
  }

  std::unique_ptr<Prepared> prepare(const Json& params, const Json& work) const override {
    return std::make_unique<PreparedGemm>(params, work);
  }

 private:
  static Json params_schema() {
    return Json::parse(R"({
      "type": "object", "additionalProperties": false,
      "properties": {
        "precisions": {
          "description": "which precisions to measure",
          "type": "array", "minItems": 1, "maxItems": 2, "uniqueItems": true,
          "items": {"type": "string", "enum": ["fp32", "fp64"]}, "default": ["fp32", "fp64"]
        },
        "n": {
          "description": "rows and columns of the matrices; 0: the largest of 512 to 8192 that takes at most 10 ms on the calibrating node",
          "type": "integer", "minimum": 0, "maximum": 16384, "default": 0
        },
        "seconds": {
          "description": "how long a measurement takes in each precision on the calibrating node",
          "type": "number", "minimum": 0.01, "maximum": 3600, "default": 0.25
        }
      }
    })");
  }

  static MetricInfo metric(const std::string& precision) {
    return {
        .name = precision,
        .unit = "FLOP/s",
        .better = Better::higher,
        .layer = Layer::host,
        .subject = SubjectKind::node,
        .description = precision + " matrix multiplication, 2n^3 operations, all usable cores",
        .next_check =
            "compare with a healthy node: CPU clock and governor (`cpupower frequency-info`), "
            "thermal throttling (`dmesg`), cgroup CPU quota and cpuset, other processes (`top`)"};
  }

  static int largest_quick_n() {
    int n = 512;
    while (n < 8192) {
      const auto ready = make_ready("fp64", n * 2);
      if (median(ready->time(1)) > kLongestMultiplication_s) {
        break;
      }
      n *= 2;
    }
    return n;
  }
};

}  // namespace

std::unique_ptr<Probe> make_cpu_gemm() { return std::make_unique<CpuGemm>(); }

}  // namespace fleetbench
