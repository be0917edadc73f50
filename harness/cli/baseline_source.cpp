#include "harness/cli/baseline_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "harness/cli/command.hpp"
#include "harness/detect/detect.hpp"
#include "harness/record/recorder.hpp"
#include "harness/record/sample_file.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::cli {
namespace {

// What is said of files that another tool wrote names them itself.
void warn_of_gaps(const record::LoadedRun& loaded, const std::string& path) {
  for (const std::string& note : loaded.notes) {
    complain(fmt::format("warning: {}", note));
  }
  const RunData& run = loaded.run;
  if (!run.imported && !run.damage.empty()) {
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
  return {"baseline",
          "a healthy past to compare with: of `fleetbench baseline build`, one run, or a file of "
          "samples",
          "FILE|RUN_DIR|CSV"};
}

std::shared_ptr<const Baseline> given_baseline(const Arguments& arguments) {
  return arguments.has("baseline") ? load_baseline(arguments.text("baseline")) : nullptr;
}

std::shared_ptr<const Baseline> load_baseline(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error) &&
      !record::looks_like_samples(record::read_whole(path))) {
    return std::make_shared<const Baseline>(read_baseline(path));
  }
  std::vector<RunData> runs;
  runs.push_back(load_samples(path));
  return std::make_shared<const Baseline>(learn(runs, runs.front().header.created).baseline);
}

void warn_if_imported(const Baseline& baseline, const std::string& path) {
  const auto imported = [](const BaselineMetric& metric) { return metric.key.method.empty(); };
  if (std::ranges::all_of(baseline.metrics, imported)) {
    complain(fmt::format(
        "warning: --baseline {}: holds only what other tools measured, and a run is compared with "
        "what was measured in the same way; give the baseline or the directory of a run",
        path));
  }
}

Baseline read_baseline(const std::string& file) {
  return parse_baseline(record::read_whole(file), file);
}

RunData load_samples(const std::string& path) {
  record::LoadedRun loaded = record::load_samples({path});
  warn_of_gaps(loaded, path);
  if (loaded.run.imported) {
    loaded.run.header.run_id = loaded.content_id;
  }
  return std::move(loaded.run);
}

std::vector<RunData> load_all_samples(const std::vector<std::string>& paths) {
  std::vector<RunData> runs;
  std::map<std::string, std::string> path_of;  // by id
  for (const std::string& path : paths) {
    runs.push_back(load_samples(path));
    const std::string& id = runs.back().header.run_id;
    if (const auto [known, is_new] = path_of.emplace(id, path); !is_new) {
      throw InputError(fmt::format(
          "run {} is given twice, as {} and as {}; each would count as a run of its own, so name "
          "it once",
          id, known->second, path));
    }
  }
  return runs;
}

BuiltBaseline learn(const std::vector<RunData>& runs, const std::string& created) {
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
