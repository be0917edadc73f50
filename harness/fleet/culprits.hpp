// Who is to blame where some that measured with each other did not succeed.
#pragma once

#include <vector>

#include "results-schema/metric.hpp"

namespace fleetbench::fleet {

// Of an answer that was forced by the root for a reason that lies elsewhere.
inline constexpr const char* kForsaken = "forsaken";

// Whether an answer is there, and its status is ok.
bool succeeded(const Json& answer);

// Positions in `answers`, in order: {"status", "detail", …} of each, null of who is lost. The first
// of these that some but not all are: lost; ended without a word of what it was doing
// ("detail.phase"); failed by itself; silent, while others say what they waited for; behind the
// others, who are more, by "detail.calls_done" in the same phase. What NCCL calls an error of a
// remote process is not one's own. Empty where nobody failed, and where all are alike.
std::vector<std::size_t> culprits(const std::vector<Json>& answers);

}  // namespace fleetbench::fleet
