// The samples of pairs, put together as a matrix shows them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results-schema/run.hpp"

namespace fleetbench::report {

inline constexpr const char* kAcrossRails = "across";

struct PairCell {
  std::optional<double> value;  // median over the passes that gave one
  bool failed = false;          // in a pass, or it timed out
  bool wrong = false;
};

struct PairMatrix {
  const StepRecord* step = nullptr;
  const MetricInfo* metric = nullptr;
  std::string rail;        // what the devices at both ends are called; empty: nodes as a whole
  std::vector<int> nodes;  // that were in any pair, ascending
  // [from][to], in the order of `nodes`; of a symmetric metric both halves are the same.
  std::vector<std::vector<PairCell>> cells;
};

// One for each step, rail and metric of pairs, in the order of the steps, of the rails' names and
// of the metrics. Devices that met others of another name are one more, kAcrossRails. What was
// measured again to confirm a suspect is left out.
std::vector<PairMatrix> pair_matrices(const RunData& run);

}  // namespace fleetbench::report
