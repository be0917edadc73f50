// What every rank but the root does for as long as the run lasts.
#pragma once

#include <functional>

#include "harness/fleet/agent.hpp"

namespace fleetbench::fleet {

// The root says that it lives at least so often; who hears nothing of it for so long gives up, for
// a root that has stopped ends no job. In between a root may analyse, or wait for its disk.
inline constexpr double kAliveInterval_s = 10;
inline constexpr double kRootSilence_s = 60;

// Carries out orders until the root closes the run. For every rank but the root. Where the root
// cannot close it, because ranks are gone for which MPI_Finalize would wait, it ends the job.
// Throws FleetError where the root is silent, Interrupted some seconds after it was told to stop.
void serve_root(Agent& agent, const std::function<bool()>& is_told_to_stop);

}  // namespace fleetbench::fleet
