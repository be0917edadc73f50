// Steps on GPUs, in a run whose nodes may have none.
#pragma once

#include "harness/cli/gpu_census.hpp"
#include "harness/cli/suite.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::cli {

bool is_on_gpus(const plan::PlannedStep& step);

// Where nobody has a GPU, steps on them are left out as if they had not been asked for. A run that
// goes on (`before`, else null) leaves out what it left out before.
void leave_out_gpu_steps(Suite& suite, const GpuCensus& census, const RunData* before);

}  // namespace fleetbench::cli
