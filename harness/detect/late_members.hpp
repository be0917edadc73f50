// Who comes late to collectives, so that the others wait for it and not for the network.
#pragma once

#include <string>
#include <vector>

#include "harness/detect/detect.hpp"

namespace fleetbench::detect {

struct LateMember {
  int step = 0;
  int node = 0;
  std::string device;        // where its samples are of one
  int late = 0;              // calls that it entered late
  int calls = 0;             // that were stamped
  double lateness_s = 0;     // after the median member, in the median over its calls
  double uncertainty_s = 0;  // of the clocks by which that was found

  bool is_late() const;
};

// Of every member of the groups of every step whose samples say when each collective was entered
// and left (`enter_s`, `leave_s`, `clock_uncertainty_s`, see docs/probes/mpi_collectives.md). Only
// collectives that cannot end before all have come: after the others the skew in which members
// leave is that in which they enter the next call.
// A call is entered late by more than the two clocks may be wrong together, a tenth of the transfer
// that follows the last entry, and five robust standard deviations of the members' entries.
std::vector<LateMember> members_of_collectives(const RunData& run);

// Tells it at the network findings of those members, as their cause: who enters late is slow
// upstream, and its network is not to blame. At findings that rest on collectives the opposite is
// told, too. Returns a sentence for each late member that no finding is about.
std::vector<std::string> tell_late_members(const RunData& run, std::vector<Finding>& findings);

}  // namespace fleetbench::detect
