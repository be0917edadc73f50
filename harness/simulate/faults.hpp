// Puts into a fleet what its spec says is wrong with it.
#pragma once

#include "harness/simulate/fleet.hpp"
#include "harness/simulate/random.hpp"

namespace fleetbench::simulation {

// Changes levels, shifts and troubles before anything is measured, and says so in fleet.faults.
void add_faults(Fleet& fleet, Random& random);

// Of add_faults: the family that stays unseen while the detector is tuned.
void add_unseen(Fleet& fleet, Random& random);

// What all families need.
const Group& any_group(const Fleet& fleet, Random& random, bool of_devices);
// Slows all metrics of a group for one subject and notes it under `who`.
void slow_down(Fleet& fleet, const Group& group, int subject, double effect);
void note_slow(Fleet& fleet, const Group& group, Subject who, double effect);

}  // namespace fleetbench::simulation
