// Logs and JSON of nccl-tests.
#pragma once

#include <vector>

#include "harness/record/imported_samples.hpp"

namespace fleetbench::record {

// All files make one run; see docs/imported-samples.md. Throws InputError where the samples would
// not fit into memory.
ImportedSamples read_nccl_tests(std::vector<SourceText> files);

bool looks_like_nccl_tests(std::string_view text);

}  // namespace fleetbench::record
