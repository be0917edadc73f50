// `fleetbench baseline`: what healthy runs measured, kept to compare later ones with.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ctime>
#include <filesystem>
#include <set>
#include <system_error>

#include "harness/cli/baseline_source.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/options.hpp"
#include "harness/record/run_directory.hpp"
#include "harness/report/baseline_text.hpp"
#include "harness/report/escape.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExamples =
    "Examples:\n"
    "  fleetbench baseline build runs/monday runs/tuesday -o fleet.baseline.json\n"
    "  fleetbench baseline build week1.csv week2.csv -o fleet.baseline.json\n"
    "  fleetbench baseline show fleet.baseline.json\n"
    "  mpirun -np 64 --hostfile hosts fleetbench --suite quick --baseline fleet.baseline.json\n";

constexpr int kMostRuns = 10000;

Usage usage() {
  return {.program = "fleetbench baseline",
          .summary =
              "build: learns from runs of a healthy fleet what is normal for each node and device "
              "and how\nmuch it varies. Nodes with findings are left out.\n"
              "Each RUN_DIR is a run, and so is each FILE of samples: a CSV whose header has node, "
              "metric and\nvalue, or SuperBench's results-summary.jsonl.\n"
              "show: prints such a file.\n"
              "Exit codes: 0 done, 64 wrong usage.",
          .synopsis = "build RUN_DIR|FILE... -o FILE [--force] | show FILE",
          .options = {{"o,out", "build: the file to write, whole or not at all", "FILE"},
                      {"force", "build: replace the file where there is one", ""}},
          .epilogue = kExamples,
          .positional = kMostRuns};
}

void require_free(const std::string& file, bool force) {
  std::error_code error;
  if (fs::is_directory(file, error)) {
    throw InputError(fmt::format("--out {}: is a folder; give the name of a file", file));
  }
  if (!force && fs::exists(fs::symlink_status(file, error))) {
    throw InputError(
        fmt::format("--out {}: exists; give another name, or --force to replace it", file));
  }
}

void warn_of_differences(const std::vector<RunData>& runs, const char* what,
                         std::string RunHeader::*field) {
  std::set<std::string> values;
  for (const RunData& run : runs) {
    values.insert(run.header.*field);
  }
  if (values.size() > 1) {
    complain(
        fmt::format("warning: these runs are of different {} ({}): only what was measured in "
                    "the same way is put together",
                    what, fmt::join(values, ", ")));
  }
}

void warn(const std::vector<RunData>& runs) {
  warn_of_differences(runs, "builds", &RunHeader::build);
  warn_of_differences(runs, "suites", &RunHeader::suite);
}

void write(const std::string& file, const Baseline& baseline) {
  try {
    record::write_whole(file, baseline_json(baseline));
  } catch (const std::system_error& error) {
    throw InputError(fmt::format("--out {}: {}; choose a file in a folder that you may write", file,
                                 error.what()));
  }
}

std::string doubts_text(const std::vector<Doubt>& doubts) {
  std::string text;
  for (const Doubt& doubt : doubts) {
    text += fmt::format(
        "{}: {} in run {}: {}\n", doubt.excluded ? "Left out" : "Kept, though doubtful",
        report::escaped(doubt.node), report::escaped(doubt.run_id), report::escaped(doubt.reason));
  }
  return text;
}

// Ids of files follow from what they hold and tell a person nothing.
std::string imported_text(const std::vector<RunData>& runs, const std::vector<std::string>& paths) {
  std::string text;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].imported) {
      text += fmt::format("Run {} is {}\n", report::escaped(runs[i].header.run_id),
                          report::escaped(paths[i]));
    }
  }
  return text;
}

int build(const Arguments& arguments) {
  const std::vector<std::string> paths(arguments.positional().begin() + 1,
                                       arguments.positional().end());
  if (paths.empty()) {
    throw InputError(
        "give healthy runs, directories or files of samples: fleetbench baseline build "
        "RUN_DIR|FILE... -o FILE");
  }
  if (!arguments.has("out")) {
    throw InputError("-o is missing: say which file to write, for example -o fleet.baseline.json");
  }
  const std::string file = arguments.text("out");
  require_free(file, arguments.has("force"));
  const std::vector<RunData> runs = load_all_samples(paths);
  const BuiltBaseline built =
      learn(runs, fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))));
  warn(runs);
  write(file, built.baseline);
  fmt::print("Baseline of {}\n{}{}Written to {}\n", baseline_headline(built.baseline),
             imported_text(runs, paths), doubts_text(built.doubts), report::escaped(file));
  return kOk;
}

int show(const Arguments& arguments) {
  if (arguments.positional().size() != 2) {
    throw InputError("give one file: fleetbench baseline show FILE");
  }
  fmt::print("{}", baseline_text(read_baseline(arguments.positional()[1])));
  return kOk;
}

}  // namespace

int baseline_command(const Invocation& invocation) {
  const auto arguments = parse(usage(), invocation.arguments);
  if (arguments.has("help")) {
    fmt::print("{}", help(usage()));
    return kOk;
  }
  const std::string action = arguments.positional().empty() ? "" : arguments.positional().front();
  if (action == "build") {
    return build(arguments);
  }
  if (action == "show") {
    return show(arguments);
  }
  throw InputError(
      action.empty()
          ? "say what to do: fleetbench baseline build RUN_DIR|FILE... -o FILE, or show FILE"
          : fmt::format("baseline \"{}\": is neither build nor show", action));
}

}  // namespace fleetbench::cli
