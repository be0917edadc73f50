// Renders a report. Pure, and deterministic: equal reports give equal bytes.
#pragma once

#include <string>

#include "results-schema/report.hpp"

namespace fleetbench {

struct TextStyle {
  bool colour = false;  // ANSI colours and bold
  int width = 100;      // columns at which sentences are broken; tables may be wider
};

// For a person in a hurry: the first line is the verdict with its weightiest reason, then the
// findings in the order in which to look at them, then what was measured and what was not. Names
// and texts that came from nodes are escaped; no line ends in a space.
std::string summary_text(const Report& report, const TextStyle& style = {});

// report.json: see results-schema/report.schema.json. Invalid UTF-8 becomes U+FFFD.
std::string report_json(const Report& report);

// Gauges for Prometheus' text format 0.0.4 (node_exporter's textfile collector). The verdict is a
// number: 0 PASS, 1 WARN, 2 FAIL, 3 INCONCLUSIVE, as exit codes of `fleetbench verdict` are.
// Slowdowns are ratios: 0.2 takes 20 % longer.
std::string prometheus_text(const Report& report);

}  // namespace fleetbench
