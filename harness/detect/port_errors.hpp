// Network ports whose error counters rise though nothing of their node is slow.
#pragma once

#include <vector>

#include "harness/detect/detect.hpp"
#include "harness/detect/table.hpp"

namespace fleetbench::detect {

// A port whose link was lost, or damaged what it carried in at least two slots, while most nodes of
// its cohort counted nothing like it, is about to become slow: a finding `wrong` of its own, but
// `tentative`, which warns and does not fail. Single bits that fall over once are ordinary. Of a
// node that is found in the network anyway, by itself or as one end of a link, the counters are
// evidence there and nothing is added.
std::vector<Finding> port_errors(const RunData& run, const Names& names,
                                 const std::vector<Finding>& findings);

}  // namespace fleetbench::detect
