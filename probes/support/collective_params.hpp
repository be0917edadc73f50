// The parameters of a sweep of collectives over sizes, and how its metrics are named. PURE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "results-schema/metric.hpp"

namespace fleetbench {

struct SweepParams {
  std::vector<std::string> collectives;
  std::vector<std::size_t> sizes_bytes;
  int iterations = 1;
  int warmup = 1;
  double max_s = 0;  // per collective and size
};

// What a probe's schema allows, and its defaults.
struct SweepLimits {
  std::vector<std::string_view> collectives;
  std::int64_t end_bytes = 0;      // by default
  std::int64_t largest_bytes = 0;  // that may be asked for
};

// The properties of a JSON Schema: collectives, begin_bytes, end_bytes, factor, iterations, warmup,
// max_s.
Json sweep_properties(const SweepLimits& limits);
SweepParams sweep_params(const Json& params);

// `begin`, `begin` × `factor`, … as long as it is at most `end`; at least `begin`.
std::vector<std::size_t> size_sweep(std::size_t begin, std::size_t end, std::size_t factor);

// 8 is "8", 4096 "4K", 1048576 "1M", 1536 "1536": powers of two as in nccl-tests, and exact.
std::string size_name(std::size_t bytes);

// In words: "8 bytes", "4 MiB".
std::string size_text(std::size_t bytes);

// "all_reduce.busbw.4M"
std::string busbw_name(std::string_view collective, std::size_t bytes);

// How many iterations of the length seen in the warm-up fit into `max_s`: 1 to `wanted`.
int iterations_that_fit(double warmup_s, int warmup, double max_s, int wanted);

}  // namespace fleetbench
