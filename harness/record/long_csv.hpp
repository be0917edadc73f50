// The long CSV: a header, then one value a line.
#pragma once

#include <vector>

#include "harness/record/imported_samples.hpp"

namespace fleetbench::record {

// All files make one run; see docs/imported-samples.md for columns, passes and what is reported.
// There is one step, without an id: metrics keep the names that the file gives them. Throws
// InputError where the samples would not fit into memory.
ImportedSamples read_long_csv(std::vector<SourceText> files);

// Whether the text begins with a header of which at least one column is known.
bool looks_like_long_csv(std::string_view text);

}  // namespace fleetbench::record
