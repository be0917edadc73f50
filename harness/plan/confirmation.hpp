// Which slots measure suspects again.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/plan/slots.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::plan {

struct ConfirmOptions {
  double limit_s = 0;                     // for all that is measured again in the run
  double left_s = 0;                      // of it; spent by how long the slots of these steps took
  std::uint64_t seed = 0;                 // of the run: what ran together does so again
  int first_slot = 0;                     // index of the first new slot
  std::vector<std::string> devices = {};  // labels of all, for steps that measure one at a time
  std::vector<int> partners;  // nodes without a finding: with whom suspects of pairs are measured
};

struct Confirmation {
  std::vector<ConfirmRecord> records;  // numbered after those of the run
  std::vector<Slot> slots;
};

// `suspects`: in the order in which time is spent on them, one comparison each. A step whose nodes
// measure at once runs again with all of them, and suspect and reference are compared within the
// slot; nodes that are suspects in such a step share its slots. Where they do not measure at once,
// suspect and reference take turns, A B B A. So do links, each in the round of pairs in which it
// was measured, or by itself where that is `solo`; and nodes in pairs where no round has both of
// them with sound partners: they then meet the same partner, one after the other. Nodes in
// matchings meet partners that are drawn anew. A suspect for whom there is no time left, or whose
// step loads what all nodes share, is left out: its record says why, and that it has no pairs.
Confirmation plan_confirmation(const std::vector<PlannedStep>& steps, const RunData& run,
                               const std::vector<ConfirmRecord>& suspects,
                               const ConfirmOptions& options);

}  // namespace fleetbench::plan
