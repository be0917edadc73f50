// `fleetbench report DIR`: what a recorded run says, in the form that somebody else reads.
#include <fmt/format.h>

#include <array>
#include <system_error>
#include <vector>

#include "harness/cli/command.hpp"
#include "harness/cli/judgement.hpp"
#include "harness/cli/options.hpp"
#include "harness/record/recorder.hpp"
#include "harness/report/collectives_table.hpp"
#include "harness/report/pair_matrix.hpp"
#include "harness/report/report.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::cli {

namespace {

Usage usage() {
  return {
      .program = "fleetbench report",
      .summary =
          "Prints the report of a recorded run, its collectives as nccl-tests prints them, or its "
          "pairs as matrices. Changes nothing in its folder.\n"
          "Exit codes: 0 PASS or WARN, 2 FAIL, 3 INCONCLUSIVE, 64 wrong usage; 0 with "
          "--collectives and --pairs.",
      .synopsis = "DIR [OPTIONS]",
      .options = {{"json", "print the report as JSON instead of the summary", ""},
                  {"min-effect",
                   "smallest slowdown worth telling, as compute=2 or all=5; may be repeated",
                   "LAYER=PERCENT", true},
                  {"collectives",
                   "print the tables of nccl-tests instead, one for each collective and group", ""},
                  {"pairs",
                   "print matrices of who reached what with whom instead, one for each metric of "
                   "pairs and each rail; above 32 nodes the slowest ones",
                   ""},
                  {"prometheus",
                   "write the metrics into this file too, whole or not at all, for "
                   "node_exporter's textfile collector",
                   "FILE"}},
      .epilogue = "",
      .positional = 1};
}

void write_prometheus(const std::string& file, const Report& report) {
  try {
    record::write_whole(file, prometheus_text(report));
  } catch (const std::system_error& error) {
    throw InputError(fmt::format(
        "--prometheus {}: {}; choose a file in a folder that you may write", file, error.what()));
  }
}

struct Tables {
  const char* option;
  std::string (*text)(const RunData&);
  const char* missing;
};
constexpr std::array<Tables, 2> kTables{
    {{"collectives", collectives_table, "no step of this run measured a collective"},
     {"pairs", pair_matrices_text, "no step of this run measured pairs of nodes"}}};

void print_tables(const Tables& tables, const RunData& run, const std::string& directory) {
  const std::string text = tables.text(run);
  if (text.empty()) {
    throw InputError(fmt::format("{}: --{}: {}", directory, tables.option, tables.missing));
  }
  fmt::print("{}", text);
  std::fflush(stdout);
}

// Which of the things to print was asked for; none: the summary or report.json.
const Tables* asked_tables(const Arguments& arguments) {
  std::vector<std::string> asked;
  const Tables* found = nullptr;
  for (const Tables& tables : kTables) {
    if (arguments.has(tables.option)) {
      asked.emplace_back(tables.option);
      found = &tables;
    }
  }
  if (arguments.has("json")) {
    asked.insert(asked.begin(), "json");
  }
  if (asked.size() > 1) {
    throw InputError(fmt::format("--{} and --{} print different things; leave one of them out",
                                 asked[0], asked[1]));
  }
  return found;
}

}  // namespace

int report_command(const Invocation& invocation) {
  const auto arguments = parse(usage(), invocation.arguments);
  if (arguments.has("help")) {
    fmt::print("{}", help(usage()));
    return kOk;
  }
  if (arguments.positional().empty()) {
    throw InputError("give one run directory: fleetbench report DIR");
  }
  const Tables* tables = asked_tables(arguments);
  const auto effects = min_effects(arguments.texts("min-effect"));
  const auto directory = record::RunDirectory::open(arguments.positional().front());
  const RunData run = record::load_run(directory);
  const Report report = judge(run, effects);
  if (arguments.has("prometheus")) {
    write_prometheus(arguments.text("prometheus"), report);
  }
  if (tables != nullptr) {
    print_tables(*tables, run, directory.path().string());
    return kOk;
  }
  print(report, run, arguments.has("json"), directory.path().string());
  return run_exit_code(report.verdict, false);
}

}  // namespace fleetbench::cli
