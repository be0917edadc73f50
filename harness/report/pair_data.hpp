// The samples of pairs, put together as a matrix shows them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "results-schema/run.hpp"

namespace fleetbench::report {

inline constexpr const char* kAcrossRails = "across";

// What a matrix is made of.
struct PairSamples {
  const StepRecord* step = nullptr;
  const MetricInfo* metric = nullptr;  // of the step
  std::string rail;        // what the devices at both ends are called; empty: nodes as a whole
  std::vector<int> nodes;  // that were in any pair, ascending
  std::shared_ptr<const std::vector<const SampleRecord*>> samples;  // of all metrics of the rail
};

using IsWanted = std::function<bool(const StepRecord&, const MetricInfo&)>;

// One for each step, rail and wanted metric of pairs, in the order of the steps, of the rails'
// names and of the metrics. Devices that met others of another name are one more, kAcrossRails.
// What was measured again to confirm a suspect is left out. Points into the run.
std::vector<PairSamples> samples_of_pairs(const RunData& run, const IsWanted& is_wanted);

struct PairCell {
  std::size_t from = 0;  // positions in PairSamples::nodes
  std::size_t to = 0;
  std::optional<double> value;  // median over the passes that gave one
  bool failed = false;          // in a pass, or it timed out
  bool wrong = false;
};

// Those that were measured, by both ends. Of a symmetric metric each stands there both ways.
std::vector<PairCell> cells_of(const PairSamples& pairs);

}  // namespace fleetbench::report
