// What is expected of a spread before looking at a table: from the other metrics of its layer.
#pragma once

#include <vector>

#include "harness/detect/clean_set.hpp"
#include "harness/detect/table.hpp"

namespace fleetbench::detect {

struct SampleVariance {
  double variance = 0;
  double degrees = 0;
};

// Empirical Bayes: the variances of a layer's metrics are themselves drawn from a distribution,
// whose mean and width follow from the mean and width of their logarithms beyond what chance makes
// (Smyth 2004, section 6.2). Wide: worth little. Each layer has a mean of its own; the width is
// learnt from all of them. One result a layer, worth nothing where it has a single metric.
std::vector<Prior> learnt_priors(const std::vector<std::vector<SampleVariance>>& layers);

// For cohorts of three or four, where nothing can be learnt: what published cohorts of that layer
// spread, and the variance that comes from the passes.
Prior assumed_prior(const Table& table, double pass_variance);

// Assumed from pass to pass where there is only one pass to see: 5 %.
inline constexpr double kSinglePassSigma = 0.05;

}  // namespace fleetbench::detect
