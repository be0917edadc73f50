// Who of those that stand out among pairs and groups is the culprit, and whom it only drags along.
#pragma once

#include <map>
#include <vector>

#include "harness/detect/hits.hpp"
#include "results-schema/report.hpp"

namespace fleetbench::detect {

// What pairs and groups say about one whom they named.
struct Named {
  Counts counts;  // of the metric that speaks most for it
  double gain = 0;
  std::size_t metrics = 0;  // whose counts are told
  // Counts of each metric, the slow pairs of what several nodes have in common, what cannot be told
  // apart.
  std::vector<Evidence> evidence;
};

// Of the hits that rest on pairs or groups, leaves those that a cover of the slow pairs of their
// metric needs (cover.hpp): nodes, rails of nodes, what nodes have in common, links. Metrics whose
// pairs touch fewest devices come first, and whom they name is preferred in the others. Hits of
// other kinds stay. Tells what speaks for each that is left.
std::map<Key, Named> attribute(const Evaluated& evaluated, const DetectOptions& options,
                               Hits& hits);

}  // namespace fleetbench::detect
