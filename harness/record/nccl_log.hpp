// What programs of nccl-tests print, and what launchers, schedulers and NCCL write between it.
#pragma once

#include <vector>

#include "harness/record/imported_samples.hpp"
#include "harness/record/nccl_run.hpp"
#include "harness/record/problems.hpp"

namespace fleetbench::record {

struct NcclProblems {
  Problems errors;
  Problems warnings;
};

// The runs of a log, in their order. What failed, was wrong, or could not be read is reported with
// its line.
std::vector<NcclRun> read_nccl_log(const SourceText& source, int file, NcclProblems& problems);

// Whether there is something in the text that only nccl-tests prints.
bool looks_like_nccl_log(std::string_view text);

}  // namespace fleetbench::record
