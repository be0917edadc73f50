// The rules that operators use today, metric by metric over the means of the passes.
#pragma once

#include <string>
#include <vector>

#include "harness/simulate/fleet.hpp"

namespace fleetbench::bench {

// Which nodes a rule calls slow: [group][node]. A node is slow where one of its devices is.
using Flags = std::vector<std::vector<bool>>;

struct Rule {
  std::string name;
  // One metric of all subjects: performance of each pass, higher is better, [subject][pass] → who
  // is slow.
  std::vector<bool> (*slow)(const std::vector<std::vector<double>>& performance);
};

// 5 % under the mean; 3 standard deviations; modified z of 3.5; SuperBench's mean that is taken
// again without the nodes 5 % under it until none is left, and its similarity of distributions with
// a threshold of 0.95; twice as slow as the median.
const std::vector<Rule>& rules();

Flags apply(const Rule& rule, const simulation::Fleet& fleet);
bool any(const Flags& flags);

}  // namespace fleetbench::bench
