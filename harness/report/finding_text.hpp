// One finding of a text report.
#pragma once

#include <string>

#include "harness/report/report.hpp"

namespace fleetbench::report {

// Where, how much, how sure; then figures, evidence and what to check next, each on its own lines.
// A finding that another one explains is a single line.
std::string finding_text(const Finding& finding, const TextStyle& style);

}  // namespace fleetbench::report
