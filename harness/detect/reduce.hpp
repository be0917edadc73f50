// Samples → one table per metric, and a list of the samples that gave no usable value.
#pragma once

#include <string>
#include <vector>

#include "harness/detect/table.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::detect {

// An attempt to measure that did not give a value that can be compared.
struct Trouble {
  int step = 0;
  int slot = 0;
  int pass = 0;  // see occasion_of()
  int node = 0;
  std::string device;
  std::optional<int> peer;
  std::vector<int> group;  // who measured together; empty: the whole fleet
  Status status = Status::failed;
  std::string reason;
  std::string metric;  // of imported samples, which come metric by metric
};

struct Reduced {
  Names names;
  std::vector<Table> tables;      // Role::own for nodes, devices and groups, Role::link for pairs
  std::vector<Table> covariates;  // untouched values, not on the log scale
  std::vector<Trouble> troubles;  // in the order of the samples
};

// What was measured again for a suspect is in no table; where it failed that is a trouble too.
// A value that is not finite or not positive has no logarithm: it counts as a failed sample and
// says so in its reason. Drift common to all subjects is taken out of the tables. Samples that were
// taken to confirm a suspect are left out. Metrics that are not to be judged give no table. Of a
// group's metric a row is a group, its value in a pass the median over its members.
Reduced reduce(const RunData& run);

// "cpu_gemm.fp64"; of samples without a step's name just the metric's.
std::string full_name(const StepRecord& step, const MetricInfo& metric);

}  // namespace fleetbench::detect
