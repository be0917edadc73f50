#include "harness/cli/baseline_source.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "harness/cli/command.hpp"
#include "harness/detect/detect.hpp"
#include "harness/record/recorder.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::cli {
namespace {

void require_different(const std::vector<RunData>& runs) {
  std::set<std::string> ids;
  for (const RunData& run : runs) {
    if (!ids.insert(run.header.run_id).second) {
      throw InputError(fmt::format(
          "run {} is given twice; each would count as a run of its own, so name it once",
          run.header.run_id));
    }
  }
}

void warn_of_gaps(const RunData& run, const std::string& path) {
  if (!run.damage.empty()) {
    complain(fmt::format("warning: {}: {} damaged {} left out, the first: {}", path,
                         run.damage.size(), run.damage.size() == 1 ? "record" : "records",
                         run.damage.front()));
  }
  if (!run.imported && (!run.end || run.end->interrupted)) {
    complain(fmt::format("warning: {}: this run broke off; what it measured is used", path));
  }
}

}  // namespace

Option baseline_option() {
  return {"baseline", "a healthy past to compare with: of `fleetbench baseline build`, or one run",
          "FILE|RUN_DIR"};
}

std::shared_ptr<const Baseline> given_baseline(const Arguments& arguments) {
  return arguments.has("baseline") ? load_baseline(arguments.text("baseline")) : nullptr;
}

std::shared_ptr<const Baseline> load_baseline(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    return std::make_shared<const Baseline>(read_baseline(path));
  }
  std::vector<RunData> runs;
  runs.push_back(load_samples(path));
  return std::make_shared<const Baseline>(learn(runs, runs.front().header.created).baseline);
}

Baseline read_baseline(const std::string& file) {
  const std::string text = record::read_whole(file);
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text[first] != '{') {
    throw InputError(fmt::format(
        "{} is no baseline; give a file that `fleetbench baseline build` wrote, or a run directory",
        file));
  }
  const Json json = parse_json(text, file);
  try {
    return baseline_from_json(json);
  } catch (const std::exception& error) {
    throw InputError(fmt::format("{}: {}", file, error.what()));
  }
}

RunData load_samples(const std::string& path) {
  RunData run = record::load_run(record::RunDirectory::open(path));
  warn_of_gaps(run, path);
  return run;
}

BuiltBaseline learn(const std::vector<RunData>& runs, const std::string& created) {
  require_different(runs);
  std::vector<Report> reports;
  for (const RunData& run : runs) {
    reports.push_back(analyze(run));
  }
  std::vector<BaselineRun> judged;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    judged.push_back({&runs[i], &reports[i]});
  }
  BuiltBaseline built = build_baseline(judged, created);
  if (built.baseline.metrics.empty()) {
    throw InputError(fmt::format(
        "nothing can be learnt from {} {}: no healthy node has a metric that is judged; measure "
        "again, or take other runs",
        runs.size() == 1 ? "run" : "runs starting with", runs.front().header.run_id));
  }
  return built;
}

}  // namespace fleetbench::cli
