// Which pass each imported row belongs to.
#pragma once

#include <vector>

#include "harness/record/sample_rows.hpp"

namespace fleetbench::record {

// By row, from 0 on without gaps. Within a file given passes are counted in their order; the k-th
// row without one of a subject and metric takes the k-th pass in which it has none. The passes of a
// file that holds a subject's metric which an earlier file holds too come after those of the
// earlier files; else they are the same passes.
std::vector<int> number_passes(const SampleRows& rows);

}  // namespace fleetbench::record
