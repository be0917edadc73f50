// How long the tails of a healthy fleet are: the data decide, not an assumption.
#pragma once

#include <vector>

namespace fleetbench::detect {

// Degrees of freedom of the Student t that fits the scores best, given that before seeing any they
// are about 8. Scores beyond 5 are what is to be tested and do not count: the likelihood is that of
// a distribution cut off there. Their scale is free. Few scores, or none: close to 8.
//
// Assuming normal tails alarms most large fleets (detection.md, section 4); assuming t4 hides real
// faults in them.
double tail_degrees(const std::vector<double>& scores);

}  // namespace fleetbench::detect
