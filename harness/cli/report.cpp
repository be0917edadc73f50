// `fleetbench report DIR`: what a recorded run says, in the form that somebody else reads.
#include <fmt/format.h>

#include <system_error>

#include "harness/cli/command.hpp"
#include "harness/cli/judgement.hpp"
#include "harness/cli/options.hpp"
#include "harness/record/recorder.hpp"
#include "harness/report/collectives_table.hpp"
#include "harness/report/report.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::cli {

namespace {

Usage usage() {
  return {
      .program = "fleetbench report",
      .summary =
          "Prints the report of a recorded run, or its collectives as nccl-tests prints them. "
          "Changes nothing in its folder.\n"
          "Exit codes: 0 PASS or WARN, 2 FAIL, 3 INCONCLUSIVE, 64 wrong usage; 0 with "
          "--collectives.",
      .synopsis = "DIR [OPTIONS]",
      .options = {{"json", "print the report as JSON instead of the summary", ""},
                  {"min-effect",
                   "smallest slowdown worth telling, as compute=2 or all=5; may be repeated",
                   "LAYER=PERCENT", true},
                  {"collectives",
                   "print the tables of nccl-tests instead, one for each collective and group", ""},
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

void print_collectives(const RunData& run, const std::string& directory) {
  const std::string table = collectives_table(run);
  if (table.empty()) {
    throw InputError(
        fmt::format("{}: --collectives: no step of this run measured a collective", directory));
  }
  fmt::print("{}", table);
  std::fflush(stdout);
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
  if (arguments.has("json") && arguments.has("collectives")) {
    throw InputError("--json and --collectives print different things; leave one of them out");
  }
  const auto effects = min_effects(arguments.texts("min-effect"));
  const auto directory = record::RunDirectory::open(arguments.positional().front());
  const RunData run = record::load_run(directory);
  const Report report = judge(run, effects);
  if (arguments.has("prometheus")) {
    write_prometheus(arguments.text("prometheus"), report);
  }
  if (arguments.has("collectives")) {
    print_collectives(run, directory.path().string());
    return kOk;
  }
  print(report, arguments.has("json"), directory.path().string());
  return run_exit_code(report.verdict, false);
}

}  // namespace fleetbench::cli
