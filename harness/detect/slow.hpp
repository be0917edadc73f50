// Judged tables → findings about speed. Ranks and causes come later, see ranking.hpp.
#pragma once

#include <string>
#include <vector>

#include "harness/detect/covariates.hpp"
#include "harness/detect/detect.hpp"
#include "harness/detect/history.hpp"
#include "harness/detect/judge.hpp"

namespace fleetbench::detect {

// What findings are made from.
struct Evaluated {
  const RunData* run = nullptr;
  Names names;
  std::vector<Judged> tables;
  std::vector<Fitted> fitted;
  FleetShift shift;                  // empty without a baseline
  std::size_t baseline_metrics = 0;  // that the baseline knows
  std::vector<std::string>
      two_populations;  // metrics whose subjects are two, apart by a relevant size
};

// A slow subject passes three gates in some table: the estimated slowdown reaches the layer's
// minimum effect (for a link also against all links, not only against what its ends lead one to
// expect), the adjusted p-value is at most the family error, and half of the slowdown remains
// without the subject's worst passes. All that speaks about one subject in one layer is one
// finding.
//
// Its slowdown and interval are those of the layer's average where that passed, else of the
// quietest metric; but of a metric that is slower than that beyond doubt.
// Devices: where at least three quarters of a node's are slow, the node is the subject.
//
// Status: `tentative` of fewer than five peers without a baseline, or a single pass; `suspect`; of
// imported samples `confirmed` where the first half of the passes and the second both show it.
std::vector<Finding> slow_findings(const Evaluated& evaluated, const DetectOptions& options);

// Subjects that are too fast by four times the minimum effect: `fast`, always `tentative`. Only
// from metrics of nodes and devices themselves; a fast link says nothing about them.
std::vector<Finding> fast_findings(const Evaluated& evaluated, const DetectOptions& options);

// Subjects that would have been findings but for the last gate.
std::vector<std::string> disturbance_notes(const Evaluated& evaluated,
                                           const DetectOptions& options);

}  // namespace fleetbench::detect
