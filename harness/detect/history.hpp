// This run against a baseline: each subject with its own past, and the whole fleet with itself.
#pragma once

#include <string>
#include <vector>

#include "harness/detect/baseline_view.hpp"
#include "harness/detect/detect.hpp"
#include "harness/detect/table.hpp"
#include "results-schema/report.hpp"

namespace fleetbench::detect {

// Puts what the baseline knows of spreads into the tables of nodes and devices, in place of what is
// otherwise learnt or assumed. Returns how many tables the baseline knows.
std::size_t expect_spreads(const RunData& run, const Names& names, const BaselineView& baseline,
                           std::vector<Table>& tables);

// x minus the subject's own level in the baseline; of one that the baseline does not have, minus
// its cohort's. Look::history. Where fewer than three subjects were measured, peers tell nothing,
// and the baseline is the reference; else what all share is the fleet's shift, and each is judged
// by what it has beyond.
std::vector<Table> tables_of_history(const RunData& run, const Names& names,
                                     const BaselineView& baseline,
                                     const std::vector<Table>& tables);

struct FleetShift {
  std::vector<Finding> findings;   // kind `fleet`, one a layer: all are slower than in the baseline
  std::vector<std::string> notes;  // all are faster; some are slower
};

// A shift of the fleet: at least 80 % of the subjects of a metric moved the same way, the median by
// the layer's minimum effect, and by more than three times what a subject moves from run to run.
// `history` is what tables_of_history() made of `tables`. Fewer than three subjects are no fleet.
FleetShift fleet_shift(const RunData& run, const std::vector<Table>& tables,
                       const std::vector<Table>& history, const Baseline& baseline,
                       const Names& names, const DetectOptions& options);

}  // namespace fleetbench::detect
