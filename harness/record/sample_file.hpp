// Whatever `fleetbench analyze` is given: a run directory, or files of other tools, told apart by
// what is in them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "results-schema/run.hpp"

namespace fleetbench::record {

struct LoadedRun {
  RunData run;                     // of files: created when the newest was last written
  std::vector<std::string> notes;  // what a person should know of the files: faults and doubts
  // Of files: "imported-5d1e7f2a-4096", a checksum of what they hold and its size. The same for a
  // copy under another name.
  std::string content_id;
};

// One run directory; or files of one kind, which make one run: long CSV, SuperBench's
// results-summary.jsonl, or logs and JSON of nccl-tests. Throws InputError naming the path where it
// cannot be read, is none of these, or holds no sample.
LoadedRun load_samples(const std::vector<std::filesystem::path>& paths);

// Whether `text` is a file of one of the kinds that load_samples() reads, by how it begins.
bool looks_like_samples(std::string_view text);

// Whether it is a file of `fleetbench baseline build`, whole or not.
bool looks_like_baseline(std::string_view text);

}  // namespace fleetbench::record
