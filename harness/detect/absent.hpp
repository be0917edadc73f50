// Subjects that nothing came back from, and nobody said why.
#pragma once

#include <vector>

#include "harness/detect/attempts.hpp"
#include "results-schema/report.hpp"

namespace fleetbench::detect {

// A node, or a device of one, without a sample of a metric that at least four fifths of the nodes
// of its cohort have: `missing`. One finding a subject and layer. Nodes that were lost, and what
// was skipped, omitted, drawn by lot or measured in pairs or groups, is accounted for elsewhere. Of
// runs of our own a whole step has to be missing (a metric of it may not apply to a node), and they
// must not have broken off.
std::vector<Finding> absent_subjects(const RunData& run, const Names& names,
                                     const std::vector<Trouble>& troubles);

}  // namespace fleetbench::detect
