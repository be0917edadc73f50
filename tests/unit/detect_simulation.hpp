// Fleets with known faults, as the harness would have recorded them. Shares no constants with the
// detector.
#pragma once

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "results-schema/run.hpp"

namespace fleetbench {

enum class Tails { normal, t4 };  // t4 is scaled to the same standard deviation

struct FleetModel {
  int nodes = 4;
  int passes = 5;
  double between = 0.01;  // between nodes, log scale
  double within = 0.01;   // from pass to pass
  double bandwidth_noise = 0.03;
  double latency_noise = 0.05;
  Tails tails = Tails::normal;
  // How many times slower than it would be.
  std::map<int, double> host;                   // by node, both host metrics
  std::map<int, double> sends;                  // by node
  std::map<int, double> receives;               // by node
  std::map<std::pair<int, int>, double> links;  // one direction
  bool slower_end_limits = false;               // else the slowness of both ends multiplies
  std::map<int, double> passes_slow;            // by pass: the whole fleet drifts, host metrics
};

RunHeader header_of(int nodes);
StepRecord host_step(int index, const std::string& id, const std::string& unit);
StepRecord pairs_step(int index);
SampleRecord sample_of(int step, int pass, int node, std::vector<std::optional<double>> values);
EndRecord clean_end();

RunData simulate(const FleetModel& model, unsigned seed);

}  // namespace fleetbench
