// Where a baseline comes from: a file of `fleetbench baseline build`, or runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/cli/options.hpp"
#include "harness/detect/baseline_build.hpp"
#include "results-schema/baseline.hpp"

namespace fleetbench::cli {

// --baseline, as every command that judges has it.
Option baseline_option();

// What --baseline names; nullptr where it is not given. Throws InputError.
std::shared_ptr<const Baseline> given_baseline(const Arguments& arguments);

// `path` is a baseline file, the directory of one run or a file of samples, told apart by what it
// holds. Throws InputError naming the file and the key that is wrong, or why nothing can be learnt
// from it.
std::shared_ptr<const Baseline> load_baseline(const std::string& path);

// For who is about to measure: says on standard error that nothing will be comparable.
void warn_if_imported(const Baseline& baseline, const std::string& path);

// Only a file of `fleetbench baseline build`. Throws InputError.
Baseline read_baseline(const std::string& file);

// The samples that a baseline is built from: of a run directory, or of a file of another tool,
// which gets an id that follows from what it holds. Says on standard error what is missing of them.
// Throws InputError where `path` holds none.
RunData load_samples(const std::string& path);

// Each path a run of its own. Throws InputError also where two are the same run.
std::vector<RunData> load_all_samples(const std::vector<std::string>& paths);

// From runs with the detector's findings about each. Throws InputError where no healthy node has a
// judged metric.
BuiltBaseline learn(const std::vector<RunData>& runs, const std::string& created);

}  // namespace fleetbench::cli
