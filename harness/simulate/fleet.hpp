// A simulated fleet: what is true of it, and what was measured on it. Pure; equal spec and seed
// give equal fleets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/simulate/spec.hpp"
#include "results-schema/metric.hpp"
#include "results-schema/report.hpp"

namespace fleetbench::simulation {

struct Metric {
  MetricInfo info;
  double typical = 1;  // of the fleet, in info.unit
  double between = 0;  // standard deviation of the subjects' levels, log scale
  double within = 0;   // standard deviation from pass to pass
};

// The metrics of one layer, measured in one step; all on nodes or all on devices.
struct Group {
  Layer layer = Layer::host;
  bool of_devices = false;
  std::size_t first = 0;  // position of its first metric
  std::size_t count = 0;
};

// What happened to one subject's measurement of a group in one pass.
struct Trouble {
  std::size_t group = 0;
  int subject = 0;
  int pass = 0;
  Status status = Status::ok;
  bool absent = false;  // no record at all
};

// What made one value slower than the subject's level and noise say.
struct Shift {
  std::size_t metric = 0;
  int subject = 0;
  int pass = 0;
  double slowness = 0;
};

// A fault that is really there.
struct TrueFault {
  Subject subject;
  Direction direction = Direction::slow;
  Layer layer = Layer::host;
  std::vector<std::string> metrics;  // as the samples name them: "host.rate0"
  double effect = 0;                 // share of time; 0 for wrong and missing
};

// Values are log slowness: 0 is the typical value, 0.05 about 5 % slower, whichever way is better.
// Subjects are nodes, or devices in the order of their nodes: subject / devices is the node.
struct Fleet {
  FleetSpec spec;
  std::uint64_t seed = 0;
  std::vector<Group> groups;
  std::vector<Metric> metrics;
  std::vector<std::vector<double>> levels;    // [metric][subject]: true, without noise
  std::vector<std::vector<double>> measured;  // [metric][subject * passes + pass]
  std::vector<Shift> shifts;                  // are in `measured` already
  std::vector<Trouble> troubles;
  std::vector<int> lost_from;  // by node, the pass; empty: none is lost
  std::vector<TrueFault> faults;
  std::vector<std::string> generations;  // by node, where there are named ones; else empty
  std::vector<double> resolutions;       // by metric, of the raw value; 0: any

  int subjects(const Group& group) const { return spec.nodes * per_node(group); }
  int per_node(const Group& group) const { return group.of_devices ? spec.devices : 1; }
  const Group& group_of(std::size_t metric) const;
};

std::string node_name(int node);
std::string device_name(int device);  // within its node
std::string step_name(const Group& group);

// As the metric's unit and resolution show it; more than 0.
double raw_value(const Fleet& fleet, std::size_t metric, double slowness);

std::string metric_name(const Fleet& fleet, std::size_t metric);  // "host.rate0"
Subject subject_of(const Fleet& fleet, const Group& group, int subject);

// Throws InputError as check(spec) does.
Fleet simulate_fleet(const FleetSpec& spec, std::uint64_t seed);

}  // namespace fleetbench::simulation
