// SuperBench's results-summary.jsonl: one JSON object a node, one key a value.
#pragma once

#include <vector>

#include "harness/record/imported_samples.hpp"

namespace fleetbench::record {

// All files make one run: a step for each benchmark, a pass for each run of it. Ranks become
// devices "rank3", unless the benchmark has no rank but 0; a benchmark or a value that other nodes
// have is a failed sample where a node lacks it. See docs/imported-samples.md. Throws InputError
// where the samples would not fit into memory.
ImportedSamples read_superbench(std::vector<SourceText> files);

// Whether the first line that holds anything is the object of a node.
bool looks_like_superbench(std::string_view text);

}  // namespace fleetbench::record
