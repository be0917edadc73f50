// How many cores this process may compute on.
#pragma once

namespace fleetbench {

// Physical cores of which at least one hardware thread is in this process's affinity mask, by
// hwloc. Two hardware threads of a core share its arithmetic units, so a library that computes
// gets one thread for each core. At least 1.
int usable_cores();

}  // namespace fleetbench
