// What the root knows before it joins the job.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "harness/cli/catalog.hpp"
#include "harness/cli/run_options.hpp"
#include "harness/cli/suite.hpp"
#include "harness/record/run_directory.hpp"
#include "results-schema/baseline.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::cli {

struct RunPlan {
  RunOptions options;
  std::vector<std::string> arguments;  // as they were typed
  Catalog catalog;
  Suite suite;
  std::shared_ptr<const Baseline> baseline;
  record::RunDirectory directory;
  std::optional<RunData> before;  // what the run measured until it broke off, where it goes on
  Topology topology;  // of the whole cluster, as --topology has it; of a run that begins
};

// Throw InputError, and std::runtime_error where the worker cannot be asked.
RunPlan plan_run(const RunOptions& options, const Invocation& invocation, worker::Worker& worker);
// `times` overrides what the run was started with.
RunPlan plan_to_resume(const std::string& directory, const RunOptions& times,
                       worker::Worker& worker);

// The header of a run that begins; nodes are as they came up.
RunHeader header_of(const RunPlan& plan, std::vector<NodeInfo> nodes);

// A folder under fleetbench-runs/ that is not there yet.
std::filesystem::path new_run_folder(const std::string& suite);

// Now, in UTC, by {fmt}'s chrono format.
std::string utc(const char* format);

}  // namespace fleetbench::cli
