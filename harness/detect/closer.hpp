// What explains a slow subject needs a closer look at its passes.
#pragma once

#include "harness/detect/judge.hpp"

namespace fleetbench::detect {

struct Closer {
  std::size_t passes = 0;
  std::size_t slow_passes = 0;  // in which it was slow by at least half its slowdown
  bool lasting = false;         // half of the slowdown remains without its worst passes
  bool both_halves = false;     // seen in the first half of its passes and in the second
  double low = 0;               // nominal 90 % interval of the slowdown
  double high = 0;
};
Closer look_closer(const Judged& judged, std::size_t row);

}  // namespace fleetbench::detect
