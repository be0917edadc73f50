// Which node or link a step's failures belong to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/detect/attempts.hpp"
#include "results-schema/report.hpp"

namespace fleetbench::detect {

using Troubles = std::map<Who, std::vector<const Trouble*>>;

struct Blame {
  Subject subject;
  std::string how_often;   // "in 2 of 5 passes", "with 3 of 3 partners"
  std::string reason;      // of the first failure
  bool timed_out = false;  // every one of its failures was
  std::string metric;      // of the first failure, where it is told
};

struct TooMany {
  std::string where;  // "on 3 of 4 nodes"
  std::string reason;
};

// More subjects than max(1, 20 %), or all of them: then the fault is not theirs.
std::optional<TooMany> too_many_to_blame(const StepAttempts& attempts, const Troubles& troubles);

// One entry for each node or link; for each device, where some of a node's devices failed and
// others did not. A single one for the group where more than half of the nodes are concerned, and
// for a wrong result of nodes that measure together: any of them may have spoilt it. So for those
// of a group that were late, while who failed in it did so by itself.
std::vector<Blame> blame_all(const RunData& run, const StepAttempts& attempts,
                             const Troubles& troubles);

}  // namespace fleetbench::detect
