// From a run's samples to findings and a verdict. Pure: no file, no clock, no MPI; equal input
// gives equal output.
#pragma once

#include <map>
#include <memory>

#include "results-schema/baseline.hpp"
#include "results-schema/report.hpp"
#include "results-schema/run.hpp"

namespace fleetbench {

struct DetectOptions {
  // Instead of default_min_effect(layer); a share of time, 0.05 is 5 %.
  std::map<Layer, double> min_effect;
  // At most this share of healthy runs may carry any slow finding.
  double family_error = 0.01;
  // A layer in which nothing under this many times the minimum effect could have been seen makes
  // the run INCONCLUSIVE.
  double blind_times = 3;
  // What the fleet was like when it was healthy; may be absent.
  std::shared_ptr<const Baseline> baseline;
};

double min_effect(const DetectOptions& options, Layer layer);

// Expects what add_record guarantees: steps, nodes and numbers of values that exist. Anything
// else may be missing: passes, samples, inventories, the end record.
Report analyze(const RunData& run, const DetectOptions& options = {});

}  // namespace fleetbench
