// With two subjects there is a difference, but no culprit.
#pragma once

#include <string>
#include <vector>

#include "harness/detect/detect.hpp"
#include "harness/detect/table.hpp"

namespace fleetbench::detect {

// One sentence for each metric of exactly two subjects (or the two directions of one link) that
// differ significantly, among all metrics compared so, and by the layer's minimum effect.
std::vector<std::string> compare_two(const std::vector<Table>& tables, const Names& names,
                                     const DetectOptions& options);

}  // namespace fleetbench::detect
