// How many rounds of pairs a run has time for.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "harness/plan/slots.hpp"

namespace fleetbench::plan {

// A node's effect is known to 1.25 sigma / sqrt(rounds): more rounds than these are given up before
// passes are.
inline constexpr int kEnoughRounds = 8;
// Of fewer partners a slow node cannot be told from a slow link.
inline constexpr int kFewestRounds = 3;

// The first pass with one round of each step of pairs, which tells what a slot costs, and all else.
struct Trial {
  std::vector<Slot> first;
  std::vector<Slot> rest;  // empty: no step has rounds that could be given up
};

Trial try_rounds(const std::vector<PlannedStep>& steps, std::vector<Slot> slots);

// Seconds that a slot of each step took, in the median: its slowest owner counts.
std::map<int, double> seconds_of_slots(const RunData& run);

struct FewerRounds {
  std::vector<Slot> slots;
  std::vector<OmissionRecord> omitted;  // one for each step that lost rounds
};

// What of `trial.rest` can be measured in `left_s` seconds: of each step of pairs the same rounds
// in every pass, among them the one that was tried, and of all those steps about the same share. At
// least kEnoughRounds where one pass of them fits, else as many as fit, at least kFewestRounds.
// What is too much even then is for the end of the run to cut.
// `seconds`: of a slot of each step; one that is absent costs nothing. `nodes` and `seed` are those
// of make_slots().
FewerRounds fit_rounds(const std::vector<PlannedStep>& steps, Trial trial,
                       const std::map<int, double>& seconds, double left_s, int nodes,
                       std::uint64_t seed);

}  // namespace fleetbench::plan
