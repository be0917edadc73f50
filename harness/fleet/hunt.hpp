// Who keeps a team from ending where all its members wait alike: found by measuring parts of it.
#pragma once

#include <vector>

#include "harness/plan/teams.hpp"
#include "results-schema/metric.hpp"

namespace fleetbench::fleet {

// First its halves are measured, then each member of the half that failed together with one of the
// half that did not.
struct Hunt {
  plan::Team team;
  std::vector<Json> answers;  // of its members, when it failed
  int slot = 0;               // in which it did, by index, and when that was
  double start_s = 0;
  bool in_pairs = false;  // its halves are known
};

// Whether it has halves to measure.
bool can_be_halved(const plan::Team& team);
std::vector<plan::Team> halves(const plan::Team& team);
// Each suspect first, its partner second. One that is left without a partner is left out.
std::vector<plan::Team> with_partners(const plan::Team& suspects, const plan::Team& sound);

}  // namespace fleetbench::fleet
