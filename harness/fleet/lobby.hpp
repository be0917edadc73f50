// The beginning of a run: every rank says who it is, the root learns who came.
#pragma once

#include <vector>

#include "harness/fleet/conversation.hpp"
#include "harness/fleet/observers.hpp"
#include "harness/plan/roster.hpp"

namespace fleetbench::fleet {

// Host, boot id and build of this process, as a message to the root.
Json hello();

// Waits until every rank has said hello or the rest is late, at most `limit_s`; who did not is
// `answered == false`. All leave MPI_Init together, so only who stopped since then takes long.
// Throws FleetError naming hosts and builds where ranks run different ones.
std::vector<plan::RankInfo> gather(Conversation& conversation, int ranks, Progress& progress,
                                   double limit_s);

}  // namespace fleetbench::fleet
