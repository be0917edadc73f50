// What a fleet was like when it was healthy, to compare later runs with. One file, written by
// `fleetbench baseline build`.
#pragma once

#include <compare>
#include <map>
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

// Of a step: its probe, the version of the probe's method and a checksum of the parameters, and
// "-alone" where its subjects were measured one at a time: "cpu_gemm/1-5d1e7f2a". Two runs whose
// steps have the same method measured the same; other parameters, other figures. Numbers of equal
// value count as equal: 4 and 4.0.
std::string method_of(const StepRecord& step);

// Of a metric of a step of `run`. That of imported samples has no method, so they are compared with
// imported ones only.
BaselineKey key_of(const RunData& run, const StepRecord& step, const MetricInfo& metric);

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
  double between = 0;     // of subjects, about the median of the same run; 0 of a single one
  double within = 0;      // from pass to pass of one subject; 0 where never more than one
  double run_to_run = 0;  // of one subject's medians from run to run; 0 where there was one run
  double degrees = 0;     // of Student's t that fits the tail of the subjects; 0: not known
};

// One subject's own level: the median over its runs of the medians over passes.
struct BaselineSubject {
  BaselineKey key;
  std::string node;
  std::string device;  // empty: the node itself
  std::string cohort;  // that it was of
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
// Throws InputError naming `source` and what is wrong there.
Baseline parse_baseline(const std::string& text, const std::string& source);

}  // namespace fleetbench
