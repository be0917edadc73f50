// What looks slow is measured again: whom, beside whom, and what comes of it.
#pragma once

#include <vector>

#include "harness/detect/detect.hpp"

namespace fleetbench {

// Planned for each suspect. At most one of eight may point the other way for a p of 0.01.
inline constexpr int kPairs = 8;

// One record with one comparison for each slow finding that is neither confirmed nor explained by
// another, nor was measured again before, in the order of their ranks: which step, and beside whom;
// `pairs` is kPairs. Where there is nobody to measure it beside, or the finding is not about the
// subject's level, `pairs` is 0 and the reason said.
// The step is that of the metric on which the finding's slowdown rests. The reference is the
// subject of the same cohort and kind whose level of that metric, over the passes, is the median
// of those without a finding. Nodes, devices, links and rails of a node can be measured again; lost
// ones cannot. Behind those, a record that is `solo` for each link that was confirmed beside others
// that measured at the same time: the same two, each by itself.
std::vector<ConfirmRecord> suspects_to_confirm(const RunData& run, const Report& report);

// Nodes about which the report says nothing bad: partners of those that are measured again.
std::vector<int> sound_nodes(const RunData& run, const Report& report);

// Sets the status of the slow findings that were measured again, and says so in their evidence.
// Over the pairs, differences of the suspect and its reference on the log scale:
//   confirmed       slower than its reference (signed-rank test, one-sided, p <= 0.01), and in the
//                   median by half of what was first estimated or by 15 %, whichever is less
//   not_reproduced  in the median by less than that
// Else the finding stays what it was: as slow as before but not surely, too few pairs, or a
// reference that had become as slow itself. In a step that fewer than five subjects took part in
// a reproduced finding is confirmed only where its interval's lower end is at least 15 %.
// What a link showed by itself, while the fleet was quiet, becomes evidence: it is slow, or only
// what it shares with others is crowded, which then is the finding's cause.
void apply_confirmation(const RunData& run, std::vector<Finding>& findings);

// Of a finding that was not reproduced: whether error counters of the suspect rose meanwhile.
bool counters_rose(const Finding& finding);

// When a sample was taken, for counting how often something happened to a subject in a step: its
// pass, and a number of its own for each pair of each confirmation.
int occasion_of(const SampleRecord& sample);

}  // namespace fleetbench
