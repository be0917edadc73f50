// What is wrong or missing, before anything is called slow.
#pragma once

#include <string>
#include <vector>

#include "harness/detect/attempts.hpp"
#include "results-schema/report.hpp"

namespace fleetbench::detect {

struct Integrity {
  std::vector<Finding> findings;  // `wrong` and `missing`, all confirmed
  std::vector<NotMeasured> not_measured;
  std::vector<std::string> inconclusive;  // why the run says little
};

// A wrong result and a lost rank are always findings. A probe that fails or times out is one where
// it does so on at most max(1, 20 %) of the nodes, but not on all; beyond that the probe or its
// set-up is at fault and no node is blamed. Failed pairs are blamed on a node where more than half
// of its pairs failed, else on the link.
Integrity check_integrity(const RunData& run, const std::vector<StepAttempts>& attempts);

}  // namespace fleetbench::detect
