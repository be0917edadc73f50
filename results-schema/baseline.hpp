// What a fleet was like when it was healthy, to compare later runs with. One file, written by
// `fleetbench baseline build`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results-schema/metric.hpp"
#include "results-schema/run.hpp"

namespace fleetbench {

inline constexpr const char* kBaselineSchema = "fleetbench-baseline/1.0";

// What values of two runs must share to be compared: the metric with its step ("cpu_gemm.fp64"),
// and how it was measured.
struct BaselineKey {
  std::string metric;
  std::string method;  // see method_of(); empty for imported samples

  auto operator<=>(const BaselineKey&) const = default;
};

// Of a step: its probe and a checksum of its parameters. Two runs whose steps have the same method
// measured the same; other parameters, other figures.
std::string method_of(const StepRecord& step);

// One metric of one cohort. Spreads are standard deviations on the log scale: 0.01 is 1 %.
struct BaselineMetric {
  BaselineKey key;
  std::string cohort;
  std::string unit;
  Better better = Better::higher;
  Layer layer = Layer::host;
  int subjects = 0;       // healthy ones that it was learnt from
  int runs = 0;           // that had it
  double median = 0;      // in `unit`
  double between = 0;     // of subjects, about the median
  double within = 0;      // from pass to pass of one subject; 0 where never more than one
  double run_to_run = 0;  // of one subject's medians from run to run; 0 where there was one run
  double degrees = 0;     // of Student's t that fits the tail of the subjects; 0: not known
};

// One subject's own level: the median over its runs of the medians over passes.
struct BaselineSubject {
  BaselineKey key;
  std::string node;
  std::string device;  // empty: the node itself
  double value = 0;    // in the metric's unit
  int runs = 0;
};

struct Baseline {
  std::string created;            // ISO 8601, UTC
  std::vector<std::string> runs;  // ids of the runs it was built from
  std::vector<BaselineMetric> metrics;
  std::vector<BaselineSubject> subjects;
  // Per cohort: what most of its nodes had in the inventory, path → value as text, so that a shift
  // of the whole fleet can be laid beside what changed.
  std::map<std::string, std::map<std::string, std::string>> inventory;
};

Json to_json(const Baseline& baseline);
// Throws nlohmann::json::exception or std::invalid_argument with the key that is wrong.
Baseline baseline_from_json(const Json& json);

}  // namespace fleetbench
