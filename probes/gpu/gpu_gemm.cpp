// Matrix multiplication on one GPU, through cuBLASLt.
//
// The rate is measured on random data, as power and with it the clock depend on the data.
// Correctness is checked on small integers, whose sums are exact in every precision used here: the
// first product by the host, those after it by a checksum that must stay the same.
#include <fmt/format.h>

#include <cmath>

#include "probes/gpu/multiplication.hpp"
#include "probes/gpu/registry.hpp"
#include "probes/support/median.hpp"

namespace fleetbench::gpu {
namespace {

// Odd counts have a median that was measured; five let one disturbance pass without a trace.
constexpr int kRepetitions = 5;
// Of a sustained measurement the rate at its end counts, when the chip is warm.
constexpr double kLastPart = 0.25;

double flop(int n) { return 2.0 * n * n * n; }

class PreparedGemm : public Prepared {
 public:
  PreparedGemm(const Gpu& gpu, const Json& params, const Json& work, RightProducts& right)
      : n_(params.at("n").get<int>()), sustained_s_(params.at("sustained_s").get<double>()) {
    for (const auto& name : params.at("precisions")) {
      add(gpu, name.get<std::string>(), work.at("precisions"), right);
    }
  }

  Measurement measure() override {
    Measurement measurement;
    measurement.detail = {{"n", n_}, {"cublaslt", cublaslt_version()}};
    for (const auto& part : parts_) {
      const auto rate =
          part ? std::optional(measure_burst(*part, measurement.detail)) : std::nullopt;
      measurement.values.push_back(rate);
      if (sustained_s_ > 0) {
        measurement.values.push_back(
            part ? std::optional(measure_sustained(*part, measurement.detail)) : std::nullopt);
      }
      if (part) {
        part->multiplication.check();
      }
    }
    return measurement;
  }

 private:
  struct Part {
    Multiplication multiplication;
    std::int64_t count;  // of a repetition
  };

  // A precision that the first GPU does not have has no algorithm.
  void add(const Gpu& gpu, const std::string& name, const Json& work, RightProducts& right) {
    if (!work.contains(name)) {
      parts_.push_back(nullptr);
      return;
    }
    const Precision& precision = precision_named(name);
    if (!has(gpu.info(), precision)) {
      throw NotAvailable(
          fmt::format("{} ({}) has no {}, which the first GPU has: their rates are "
                      "not compared",
                      gpu.label(), gpu.info().name, name));
    }
    parts_.push_back(
        std::make_unique<Part>(Part{.multiplication = Multiplication(gpu, precision, n_, right),
                                    .count = work.at(name).at("count").get<std::int64_t>()}));
    auto& multiplication = parts_.back()->multiplication;
    multiplication.use(algorithm_from_hex(work.at(name).at("algorithm").get<std::string>()));
    multiplication.check();
  }

  double measure_burst(Part& part, Json& detail) const {
    part.multiplication.fill_random();
    part.multiplication.time(part.count);  // warm
    std::vector<double> seconds;
    for (int repetition = 0; repetition < kRepetitions; ++repetition) {
      seconds.push_back(part.multiplication.time(part.count));
    }
    detail["repetition_s"][std::string(part.multiplication.precision().name)] = seconds;
    return flop(n_) * static_cast<double>(part.count) / median(seconds);
  }

  // Counts by the device's clock, so that a slow GPU is under load for as long as the others.
  double measure_sustained(Part& part, Json& detail) const {
    std::vector<double> seconds;
    double all_s = 0;
    while (all_s < sustained_s_) {
      seconds.push_back(part.multiplication.time(part.count));
      all_s += seconds.back();
    }
    double last_s = 0;
    double count = 0;
    for (auto taken = seconds.rbegin(); taken != seconds.rend() && last_s < kLastPart * all_s;
         ++taken) {
      last_s += *taken;
      count += static_cast<double>(part.count);
    }
    const double rate = flop(n_) * count / last_s;
    detail["sustained_start_flop_per_s"][std::string(part.multiplication.precision().name)] =
        flop(n_) * static_cast<double>(part.count) / seconds.front();
    return rate;
  }

  int n_;
  double sustained_s_;
  std::vector<std::unique_ptr<Part>> parts_;
};

class GpuGemm : public Probe {
 public:
  explicit GpuGemm(const AssignedGpu& assigned) : assigned_(assigned) {}

  ProbeInfo info() const override {
    return {.name = "gpu_gemm",
            .summary = "matrix multiplication on each GPU (cuBLASLt), fp32, tf32, fp16, bf16, fp8",
            .layer = Layer::compute,
            .participants = Participants::node,
            .params_schema = params_schema()};
  }

  std::vector<MetricInfo> metrics(const Json& params) const override {
    std::vector<MetricInfo> metrics;
    for (const auto& precision : params.at("precisions")) {
      const auto name = precision.get<std::string>();
      metrics.push_back(metric(name, name + " matrix multiplication, 2n^3 operations"));
      if (params.at("sustained_s").get<double>() > 0) {
        metrics.push_back(
            metric(name + ".sustained", name + " matrix multiplication at the end of a long load"));
      }
    }
    return metrics;
  }

  // One algorithm for all: else rates would differ for a reason that is not hardware.
  Json calibrate(const Json& params) const override {
    const Gpu& gpu = assigned_.select();
    const int n = params.at("n").get<int>();
    const double repetition_s = params.at("seconds").get<double>() / kRepetitions;
    Json precisions = Json::object();
    for (const auto& item : params.at("precisions")) {
      const Precision& precision = precision_named(item.get<std::string>());
      if (!has(gpu.info(), precision)) {
        continue;
      }
      Multiplication multiplication(gpu, precision, n, right_);
      const Algorithm algorithm = multiplication.fastest();
      multiplication.use(algorithm);
      const double once_s = multiplication.time(1);
      precisions[std::string(precision.name)] = {
          {"algorithm", to_hex(algorithm)},
          {"count", std::max<std::int64_t>(1, std::llround(repetition_s / once_s))}};
    }
    return {{"cublaslt", cublaslt_version()}, {"precisions", std::move(precisions)}};
  }

  std::unique_ptr<Prepared> prepare(const Json& params, const Json& work) const override {
    const auto chosen_by = work.at("cublaslt").get<std::size_t>();
    if (chosen_by != cublaslt_version()) {
      throw NotAvailable(fmt::format(
          "cuBLASLt is {} here and {} where the algorithms were chosen: rates are not compared; "
          "install the same CUDA libraries on all nodes",
          cublaslt_version(), chosen_by));
    }
    const Gpu& gpu = assigned_.select();
    return std::make_unique<PreparedGemm>(gpu, params, work, right_);
  }

 private:
  static Json params_schema() {
    return Json::parse(R"({
      "type": "object", "additionalProperties": false,
      "properties": {
        "precisions": {
          "description": "which to measure; those that the first GPU does not have are left out",
          "type": "array", "minItems": 1, "maxItems": 5, "uniqueItems": true,
          "items": {"type": "string", "enum": ["fp32", "tf32", "fp16", "bf16", "fp8"]},
          "default": ["fp32", "tf32", "fp16", "bf16", "fp8"]
        },
        "n": {
          "description": "rows and columns of the matrices; 4096 and more fill the chip",
          "type": "integer", "minimum": 64, "maximum": 16384, "multipleOf": 64, "default": 8192
        },
        "seconds": {
          "description": "how long a measurement takes in each precision on the calibrating GPU",
          "type": "number", "minimum": 0.000001, "maximum": 3600, "default": 0.25
        },
        "sustained_s": {
          "description": "then also so long without a pause, which shows throttling: 10 and more; 0: not",
          "type": "number", "minimum": 0, "maximum": 3600, "default": 0
        }
      }
    })");
  }

  static MetricInfo metric(const std::string& name, const std::string& description) {
    return {.name = name,
            .unit = "FLOP/s",
            .better = Better::higher,
            .layer = Layer::compute,
            .subject = SubjectKind::device,
            .description = description,
            .next_check =
                "on the node, under load: `nvidia-smi -q -d CLOCK,PERFORMANCE,POWER,TEMPERATURE`: "
                "SM clock, clock event reasons (thermal, power brake, power cap), power limit "
                "against its default; a clock below the others' explains it, none does not. Its "
                "kernels, on {node}: `{gpu}ncu --target-processes all --nvtx --nvtx-include "
                "gpu_gemm/ --launch-count 20 -o gpu_gemm {run}`"};
  }

  const AssignedGpu& assigned_;
  mutable RightProducts right_;  // of this process; one command at a time
};

}  // namespace

std::unique_ptr<Probe> make_gpu_gemm(const AssignedGpu& assigned) {
  return std::make_unique<GpuGemm>(assigned);
}

}  // namespace fleetbench::gpu
