// Runs of nccl-tests → samples: what links, groups and single nodes reached with each collective.
#pragma once

#include <string>
#include <vector>

#include "harness/record/nccl_log.hpp"
#include "harness/record/nccl_run.hpp"
#include "harness/record/sample_rows.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::record {

// A step for each collective and shape ("alltoall 2 nodes x 4 GPUs"), with a metric
// "busbw.SIZE" in GB/s for each size, out of place; the figures in place and the average are not
// judged. A run between two nodes is a sample of the link, of more of their group, of one of the
// node, with the GPUs that took part as `ends`. Runs of the same GPUs are passes. `files` are named
// in reasons and messages. Throws InputError where the samples would be beyond the limits.
RunData nccl_run_data(const std::vector<NcclRun>& runs, const std::vector<std::string>& files,
                      NcclProblems& problems, const ImportLimits& limits = {});

}  // namespace fleetbench::record
