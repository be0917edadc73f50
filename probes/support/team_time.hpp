// Times work that several threads do at the same time.
#pragma once

#include <vector>

#include "probes/support/thread_team.hpp"

namespace fleetbench {

// Threads of a team: `count` from number `first` on.
struct TeamPart {
  int first = 0;
  int count = 0;
};

// Each thread of the part runs `body` with its number, `repetitions` times. They begin each
// repetition together; its seconds are from when the first begins until the last is done. The
// threads stay awake in between: unlike one ThreadTeam::run() a repetition, this does not time how
// long the kernel takes to wake them. Throws what the
// thread of the lowest number threw; one that threw does no further work.
std::vector<double> time_together(ThreadTeam& team, const TeamPart& part, int repetitions,
                                  const ThreadTeam::Body& body);
// The whole team.
std::vector<double> time_together(ThreadTeam& team, int repetitions, const ThreadTeam::Body& body);

}  // namespace fleetbench
