// How long to wait for those who have not answered yet.
#pragma once

#include <vector>

namespace fleetbench::plan {

// The rest of those asked get this long, or three times the median of the others, whichever is
// more, after nearly all have answered. Five seconds let a node that is twenty times as slow as its
// peers be measured in a slot of a quarter of a second instead of merely timing out.
inline constexpr double kGrace_s = 5;
// To answer a message that asks for no work.
inline constexpr double kControl_s = 5;
// Ranks never block: one that has not answered a ping for this long has stopped, whatever it was
// asked for.
inline constexpr double kSilence_s = 10;

// Seconds since asking at which whoever is still silent is late.
//   answered_s  when each of those who answered did, since asking
//   asked       how many were asked
//   history_s   how long the same phase of the same step took before, on any node
//   limit_s     never later than this
// With all but max(1, 10 %) answered the peers decide; until then earlier slots do, if there are at
// least two, with three times the grace as long as none of several has answered; else only the
// limit.
double deadline_s(std::vector<double> answered_s, int asked, const std::vector<double>& history_s,
                  double limit_s);

}  // namespace fleetbench::plan
