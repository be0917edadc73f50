// One simulated fleet, seen by the detector, the oracle and the rules.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/simulate/spec.hpp"
#include "tests/bench/detection/oracle.hpp"
#include "tests/bench/detection/score.hpp"

namespace fleetbench::bench {

// Who looks at the fleets.
struct Look {
  bool plain = true;             // the detector with its default options
  bool fine = false;             // the detector with a minimum effect of 0.5 % in all layers
  std::optional<double> oracle;  // its threshold
  Focus focus = Focus::layer;
  std::vector<double> family_errors;  // the detector with 0.5 % and each of these
  bool rules = false;
};

// A detector without subjects of its own: which faults it found, and whether it called any node
// slow.
struct Verdicts {
  int found = 0;
  bool alarm = false;
};

struct Trial {
  Score plain;
  Score fine;
  Verdicts oracle;
  std::vector<Score> relaxed;  // by family error
  std::vector<Verdicts> rules;
};

Trial try_fleet(const simulation::FleetSpec& spec, std::uint64_t seed, const Look& look);
// `count` fleets with seeds of their own, on all cores; the order does not depend on them.
std::vector<Trial> try_fleets(const simulation::FleetSpec& spec, int count, std::uint64_t seed,
                              const Look& look);

// The score that 1 % of healthy fleets of this kind exceed. Any fault of the spec is left out.
double oracle_threshold(simulation::FleetSpec spec, Focus focus, int count, std::uint64_t seed);

// A seed for the `index`-th fleet of a series.
std::uint64_t seed_of(std::uint64_t seed, int index);

}  // namespace fleetbench::bench
