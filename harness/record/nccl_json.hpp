// What nccl-tests writes to the file of its option -J (--output_file).
#pragma once

#include <string_view>
#include <vector>

#include "harness/record/nccl_log.hpp"

namespace fleetbench::record {

// One run, or none where nothing can be used. A file that breaks off, as it does where the test
// fails, is read as far as it goes. Problems have no line: the whole file is one line.
std::vector<NcclRun> read_nccl_json(const SourceText& source, int file, NcclProblems& problems);

bool looks_like_nccl_json(std::string_view text);

}  // namespace fleetbench::record
