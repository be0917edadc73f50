// How long a run may take, on its own clock: seconds since it began.
#pragma once

#include <limits>
#include <string>

namespace fleetbench::fleet {

// Slots that are measured again without those who were lost in them have numbers from here on: more
// than can be planned (plan::kMostMembers).
inline constexpr int kAgainFirst = 1'000'000'000;

struct TimeLimits {
  double no_slot_after_s = std::numeric_limits<double>::infinity();
  // What is under way then is cut short, and nobody is blamed for it. No slot begins that is known
  // to take longer.
  double end_s = std::numeric_limits<double>::infinity();
};

}  // namespace fleetbench::fleet
