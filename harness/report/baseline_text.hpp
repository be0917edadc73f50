// A baseline for people. Pure, and deterministic; names that came from nodes are escaped.
#pragma once

#include <string>

#include "results-schema/baseline.hpp"

namespace fleetbench {

// "2 runs, 8 nodes, 12 metrics, 96 levels of nodes and devices"
std::string baseline_headline(const Baseline& baseline);

// When and from what it was made, then for each cohort a table of its metrics: median, spreads,
// from how many subjects and runs.
std::string baseline_text(const Baseline& baseline);

// The file: see results-schema/baseline.schema.json. Invalid UTF-8 becomes U+FFFD.
std::string baseline_json(const Baseline& baseline);

}  // namespace fleetbench
