// Keys of SuperBench's results-summary.jsonl: "BENCHMARK/METRIC", with a number of the run before
// the metric and, after a colon, the rank or the two hosts that it is of.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "results-schema/metric.hpp"

namespace fleetbench::record {

struct SuperbenchKey {
  std::string benchmark;  // "nccl-bw:gdr-only"
  std::string metric;     // "allreduce_8388608_busbw"
  std::optional<int> run;
  std::optional<int> rank;
  std::string suffix;  // what stands after the last colon of the metric and is no number
};

// None where the key has no slash, as "node".
std::optional<SuperbenchKey> parse_superbench_key(std::string_view key);

// Results of a benchmark stand in values, whether it went well in return codes, and whether what it
// computed is right in checks: 1 is right, 0 wrong.
enum class SuperbenchRole { value, return_code, check };

struct SuperbenchFacts {
  SuperbenchRole role = SuperbenchRole::value;
  std::string unit;              // where benchmark and name tell, as SuperBench documents it
  std::optional<Better> better;  // absent: the name does not tell
  bool setting = false;          // a block size, a count: cannot be slow
  std::optional<Layer> layer;
};

SuperbenchFacts superbench_facts(std::string_view benchmark, std::string_view metric);

// What SuperBench calls a return code: "KILLED_BY_TIMEOUT"; empty where it has no name here.
std::string_view superbench_code_name(int code);

}  // namespace fleetbench::record
