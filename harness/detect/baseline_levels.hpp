// What a run says of its nodes and devices, as a baseline keeps it: one level a metric and subject.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "results-schema/baseline.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::detect {

// One subject's values of one metric in one run, as a table has them (table.hpp).
struct SubjectLevel {
  std::string node;
  std::string device;  // empty: the node itself
  std::string cohort;
  std::vector<double> x;  // by pass, without the drift that all share; kAbsent: no sample
  double level = 0;       // median of x
};

struct MetricLevels {
  MetricInfo info;
  std::vector<SubjectLevel> subjects;  // by node and device
};

// Judged metrics of nodes and devices, without the nodes named in `excluded`. Left out are links
// and groups, steps whose nodes wait for each other (their figures depend on how many they are),
// samples that confirm a suspect, and values that have no logarithm.
std::map<BaselineKey, MetricLevels> levels_of(const RunData& run,
                                              const std::set<std::string>& excluded);

}  // namespace fleetbench::detect
