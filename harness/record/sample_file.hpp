// Whatever `fleetbench analyze` is given: a run directory, or files of other tools, told apart by
// what is in them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results-schema/run.hpp"

namespace fleetbench::record {

struct LoadedRun {
  RunData run;
  std::vector<std::string> notes;  // what a person should know of the files: faults and doubts
};

// One run directory; or files of one kind, which make one run: long CSV or SuperBench's
// results-summary.jsonl. Throws InputError naming the path where it cannot be read, is none of
// these, or holds no sample.
LoadedRun load_samples(const std::vector<std::filesystem::path>& paths);

}  // namespace fleetbench::record
