// The best that could be done: a detector that is told what is typical, how much subjects and
// passes differ, and which metrics a fault touches. Its threshold is such that 1 % of healthy
// fleets of the same kind alarm.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/detection/reduced.hpp"

namespace fleetbench::bench {

// `layer`: the precision-weighted mean of a layer's metrics; of a node with devices also the mean
// of its devices. `metric`: each metric by itself.
enum class Focus { layer, metric };

// Standardised slowness of each node in each group, the largest of those that the focus looks at.
// [group][node]; over 0 is slow.
Values2 oracle_scores(const simulation::Fleet& fleet, const Values2& medians, Focus focus);
double largest(const Values2& scores);

// Weights of a group's metrics, their sum 1: the inverse of what is known of their variance.
std::vector<double> precision_weights(const simulation::Fleet& fleet,
                                      const simulation::Group& group);

}  // namespace fleetbench::bench
