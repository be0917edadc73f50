#include "harness/record/superbench_key.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "harness/record/metric_words.hpp"

namespace fleetbench::record {
namespace {

std::optional<int> whole_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size() && number >= 0;
  return whole ? std::optional(number) : std::nullopt;
}

// The last word of a name that is one of these says what the metric is: a latency in
// "mem_bandwidth_matrix_numa_0_1_lat".
constexpr auto kLower =
    std::to_array<std::string_view>({"time", "lat", "latency", "duration", "s", "ms", "us", "ns"});
constexpr auto kHigher =
    std::to_array<std::string_view>({"bw", "busbw", "algbw", "bandwidth", "flops", "gflops",
                                     "tflops", "iops", "throughput", "tput", "mkps", "qps"});
constexpr auto kSettings = std::to_array<std::string_view>(
    {"bs", "size", "count", "threads", "domain", "abort", "error", "x"});
constexpr auto kChecks = std::to_array<std::string_view>({"pass", "correctness", "valid"});

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& all) {
  return std::ranges::find(all, word) != all.end();
}

struct UnitRule {
  std::string_view benchmark;  // what its name begins with
  std::string_view word;
  std::string_view unit;
};

constexpr auto kUnits = std::to_array<UnitRule>({
    {"", "ns", "ns"},
    {"", "us", "us"},
    {"", "ms", "ms"},
    {"", "busbw", "GB/s"},
    {"", "algbw", "GB/s"},
    {"", "gflops", "GFLOPS"},
    {"", "bs", "bytes"},
    {"nccl-bw", "time", "us"},
    {"rccl-bw", "time", "us"},
    {"ib-loopback", "bw", "GB/s"},
    {"ib-traffic", "bw", "GB/s"},
    {"ib-traffic", "lat", "us"},
    {"mem-bw", "bw", "GB/s"},
    {"gpu-copy-bw", "bw", "GB/s"},
    {"gpu-stream", "bw", "GB/s"},
    {"gpu-stream", "time", "s"},
    {"nvbandwidth", "bw", "GB/s"},
    {"cpu-memory-bw-latency", "bw", "MB/s"},
    {"cpu-memory-bw-latency", "lat", "ns"},
    {"cpu-stream", "throughput", "MB/s"},
    {"cpu-stream", "time", "s"},
    {"cpu-hpl", "throughput", "GFLOPS"},
    {"cpu-hpl", "time", "s"},
    {"gemm-flops", "flops", "GFLOPS"},
    {"gemm-flops", "iops", "GIOPS"},
    {"cublaslt-gemm", "flops", "TFLOPS"},
    {"hipblaslt-gemm", "flops", "TFLOPS"},
    {"cublas-function", "time", "us"},
    {"cudnn-function", "time", "us"},
    {"kernel-launch", "time", "ms"},
    {"tensorrt-inference", "time", "ms"},
    {"ort-inference", "time", "ms"},
    {"tcp-connectivity", "time", "ms"},
    {"disk-benchmark", "iops", "IOPS"},
    {"model-benchmarks", "time", "ms"},
    {"model-benchmarks", "throughput", "samples/s"},
});

std::string unit_of(std::string_view benchmark, const std::vector<std::string>& words) {
  for (const UnitRule& rule : kUnits) {
    if (benchmark.starts_with(rule.benchmark) && std::ranges::count(words, rule.word) > 0) {
      return std::string(rule.unit);
    }
  }
  return "";
}

void say_what_it_is(const std::vector<std::string>& words, SuperbenchFacts& facts) {
  for (auto word = words.rbegin(); word != words.rend(); ++word) {
    if (is_one_of(*word, kLower)) {
      facts.better = Better::lower;
    } else if (is_one_of(*word, kHigher)) {
      facts.better = Better::higher;
    } else if (is_one_of(*word, kSettings)) {
      facts.setting = true;
    } else if (is_one_of(*word, kChecks)) {
      facts.role = SuperbenchRole::check;
      facts.setting = true;
    } else {
      continue;
    }
    return;
  }
}

// Words of a benchmark's name mislead where it measures copies between memories.
std::optional<Layer> layer_of(std::string_view benchmark, std::string_view metric,
                              const std::string& unit) {
  if (benchmark.starts_with("mem-bw")) {
    return Layer::copy;
  }
  const auto by_benchmark = layer_of_words(benchmark, "");
  return by_benchmark ? by_benchmark : layer_of_words(metric, unit);
}

struct CodeName {
  int code;
  std::string_view name;
};

constexpr auto kCodeNames = std::to_array<CodeName>({
    {1, "INVALID_ARGUMENT"},
    {2, "INVALID_BENCHMARK_TYPE"},
    {3, "INVALID_BENCHMARK_RESULT"},
    {4, "RUNTIME_EXCEPTION_ERROR"},
    {10, "NO_SUPPORTED_PRECISION"},
    {13, "DISTRIBUTED_SETTING_INIT_FAILURE"},
    {14, "DISTRIBUTED_SETTING_DESTROY_FAILURE"},
    {15, "DATASET_GENERATION_FAILURE"},
    {16, "DATALOADER_INIT_FAILURE"},
    {17, "OPTIMIZER_CREATION_FAILURE"},
    {18, "MODEL_CREATION_FAILURE"},
    {30, "MICROBENCHMARK_BINARY_NAME_NOT_SET"},
    {31, "MICROBENCHMARK_BINARY_NOT_EXIST"},
    {32, "MICROBENCHMARK_EXECUTION_FAILURE"},
    {33, "MICROBENCHMARK_RESULT_PARSING_FAILURE"},
    {34, "MICROBENCHMARK_UNSUPPORTED_ARCHITECTURE"},
    {124, "KILLED_BY_TIMEOUT"},
});

}  // namespace

std::optional<SuperbenchKey> parse_superbench_key(std::string_view key) {
  const std::size_t slash = key.rfind('/');
  if (slash == std::string_view::npos) {
    return std::nullopt;
  }
  SuperbenchKey parts;
  std::string_view benchmark = key.substr(0, slash);
  std::string_view metric = key.substr(slash + 1);
  if (const auto colon = metric.rfind(':'); colon != std::string_view::npos) {
    parts.rank = whole_number(metric.substr(colon + 1));
    if (!parts.rank) {
      parts.suffix = metric.substr(colon + 1);
    }
    metric = metric.substr(0, colon);
  }
  if (const auto before = benchmark.rfind('/'); before != std::string_view::npos) {
    parts.run = whole_number(benchmark.substr(before + 1));
    if (parts.run) {
      benchmark = benchmark.substr(0, before);
    }
  }
  parts.benchmark = benchmark;
  parts.metric = metric;
  return parts;
}

SuperbenchFacts superbench_facts(std::string_view benchmark, std::string_view metric) {
  SuperbenchFacts facts;
  if (metric == "return_code") {
    facts.role = SuperbenchRole::return_code;
    return facts;
  }
  const auto words = words_of(metric);
  say_what_it_is(words, facts);
  if (!facts.better && !facts.setting && benchmark.starts_with("ib-loopback")) {
    facts.better = Better::higher;  // its older names say the size and the statistic, no more
  }
  facts.unit = unit_of(benchmark, words);
  facts.layer = layer_of(benchmark, metric, facts.unit);
  return facts;
}

std::string_view superbench_code_name(int code) {
  const auto found = std::ranges::find(kCodeNames, code, &CodeName::code);
  return found == kCodeNames.end() ? std::string_view() : found->name;
}

}  // namespace fleetbench::record
