// The parts of the bench: each runs its cells, prints a row a cell, and says what must hold.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/simulate/spec.hpp"
#include "tests/bench/detection/tally.hpp"

namespace fleetbench::bench {

struct Plan {
  int fleets = 400;  // of 32 nodes with 20 metrics; fewer of large ones
  bool quick = false;
  std::uint64_t seed = 0;
  std::string cells;  // what the description of a cell has to contain; empty: all
};

struct Section {
  const char* name;  // as --only takes it
  const char* about;
  void (*run)(const Plan& plan, Acceptance& acceptance);
};

const std::vector<Section>& sections();

void run_recall(const Plan& plan, Acceptance& acceptance);
void run_nuisances(const Plan& plan, Acceptance& acceptance);
void run_culprits(const Plan& plan, Acceptance& acceptance);
void run_pairs(const Plan& plan, Acceptance& acceptance);
void run_pairs_speed(const Plan& plan, Acceptance& acceptance);
void run_integrity(const Plan& plan, Acceptance& acceptance);
void run_rules(const Plan& plan, Acceptance& acceptance);
void run_fleet_shift(const Plan& plan, Acceptance& acceptance);

// What sections share.
int fleets_for(const Plan& plan, const simulation::FleetSpec& spec);
// A seed that no other series of fleets has.
std::uint64_t series_seed(const Plan& plan, const simulation::FleetSpec& spec,
                          const std::string& what);
std::string describe(const simulation::FleetSpec& spec);  // "N   32 M  20 normal"
// Whether --cells asks for it; how many spaces there are does not count.
bool is_wanted(const Plan& plan, const simulation::FleetSpec& spec);
std::vector<double> noisy_spreads();

}  // namespace fleetbench::bench
