// How long the tails of a healthy fleet are: the data decide, not an assumption.
#pragma once

#include <vector>

namespace fleetbench::detect {

// Degrees of freedom of the Student t that fits the scores best, given that before seeing any they
// are about 8 (at 8, 1 % of healthy fleets of 16 with t4 tails are alarmed; a normal fleet of 64
// would pay for it with a third of its power). Scores beyond 5 are what is to be tested and do not
// count: the likelihood is that of a distribution cut off there. Their scale is free.
//
// Assuming normal tails alarms most large fleets (detection.md, section 4); assuming t4 hides real
// faults in them.
double tail_degrees(const std::vector<double>& scores);

}  // namespace fleetbench::detect
