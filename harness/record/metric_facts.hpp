// Settles what the metrics of imported rows are, once all rows are known.
#pragma once

#include <vector>

#include "harness/record/sample_rows.hpp"

namespace fleetbench::record {

// Gives each metric one kind of subject, a direction and a layer, and drops values that cannot be
// compared. Returns the kinds, by metric; what cannot be settled is reported in `rows`.
std::vector<SubjectKind> settle_metrics(SampleRows& rows);

}  // namespace fleetbench::record
