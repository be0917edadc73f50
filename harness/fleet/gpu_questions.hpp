// What the root asks ranks about GPUs before there are slots. See Job for what comes back.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/fleet/conversation.hpp"
#include "harness/fleet/observers.hpp"
#include "harness/plan/gpu_seats.hpp"
#include "harness/plan/slots.hpp"

namespace fleetbench::fleet {

// Ranks that stop meanwhile, and why they count as lost, are added to `lost`.
std::map<int, Json> look_at_gpus(Conversation& conversation, const std::vector<NodeInfo>& nodes,
                                 Progress& progress, double limit_s,
                                 std::map<int, std::string>& lost);
Json calibrate(Conversation& conversation, const plan::PlannedStep& step, const plan::OwnedGpu& gpu,
               double limit_s, std::map<int, std::string>& lost);

}  // namespace fleetbench::fleet
