// What a simulated fleet is asked to be like. Spreads and effects are shares: 0.05 is 5 %.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace fleetbench::simulation {

// How subjects differ from each other. All have the same standard deviation. `bimodal`: normal, and
// 2 % of the single values fall into a second, slower mode of their metric.
enum class Tails { normal, t4, bimodal };

// What is really wrong, and has to be reported.
enum class Fault {
  none,
  layer,    // nodes that are slow in all metrics of one layer
  metric,   // subjects that are slow in one metric only
  device,   // single devices, slow in all metrics of one layer
  devices,  // nodes all of whose devices are slow in all metrics of one layer
  fleet,    // all nodes, in all metrics of one layer: only an earlier run can tell
  wrong,    // nodes whose results of one layer are wrong in some passes
  failed,   // nodes that fail in one layer in all passes
  missing,  // nodes, or devices where there are some, that have no value at all
  unseen,   // a family that no constant of the detector may be tuned on
};

// What looks like a fault and is none: nothing may be reported.
enum class Nuisance {
  none,
  one_pass,     // one node is disturbed in all it does during one pass
  drift,        // all nodes get slower from pass to pass
  labelled,     // two generations of hardware, named as such
  generations,  // two generations that nobody names
  coarse,       // a resolution so coarse that most values are equal
  noisy,        // one metric with 33 % noise from pass to pass
};

struct FleetSpec {
  int nodes = 32;
  int devices = 0;  // of each node
  int metrics = 20;
  int passes = 5;
  // Each metric draws its standard deviation between subjects from these, on the log scale.
  std::vector<double> spreads{0.0005, 0.003, 0.006, 0.017, 0.022};
  // Standard deviation from pass to pass over that between subjects: drawn from this range, evenly
  // on the log scale.
  double noise_low = 0.06;
  double noise_high = 3;
  Tails tails = Tails::normal;
  double correlation = 0;  // of a subject's deviations in the metrics of one layer
  Fault fault = Fault::none;
  double effect = 0.05;  // of the fault: times that are this share longer
  int faulty = 1;        // subjects that have it
  Nuisance nuisance = Nuisance::none;
  // Samples as another tool would have left them: no inventory, no end record, no losses.
  bool imported = false;
};

// Throws InputError naming the first value that makes no fleet.
void check(const FleetSpec& spec);

std::string_view to_string(Tails tails);
std::string_view to_string(Fault fault);
std::string_view to_string(Nuisance nuisance);

// Throw InputError naming the text and what is allowed.
Tails parse_tails(std::string_view text);
Fault parse_fault(std::string_view text);
Nuisance parse_nuisance(std::string_view text);

const std::vector<Tails>& all_tails();
const std::vector<Fault>& all_faults();
const std::vector<Nuisance>& all_nuisances();

}  // namespace fleetbench::simulation
