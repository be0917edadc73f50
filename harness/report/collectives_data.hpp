// The samples of collectives, put together as nccl-tests' tables need them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results-schema/collective_rule.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::report {

// Size is what was really measured; a time is absent where no pass gave one.
struct CollectiveRow {
  std::size_t bytes = 0;
  std::size_t count = 0;
  std::optional<double> time_s;
  double wrong = 0;
};

struct CollectiveSweepData {
  const StepRecord* step = nullptr;
  const CollectiveRule* rule = nullptr;
  // Of the group, in the order of its members, as far as they are known: nodes, or GPUs of theirs.
  std::vector<End> ranks;
  std::size_t members = 0;
  std::size_t passes = 0;  // that gave times
  std::vector<CollectiveRow> rows;
};

// One for each step, group and collective, in the order of the steps, of the groups' first samples
// and of the metrics; where each node measured by itself one for each node, of rails one for each.
// Groups of which members are missing at times count as several.
std::vector<CollectiveSweepData> collective_sweeps(const RunData& run);

}  // namespace fleetbench::report
