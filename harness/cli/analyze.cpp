// `fleetbench analyze DIR`: the report of a recorded run, made again from its journal.
#include <fmt/format.h>

#include "harness/cli/baseline_source.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/judgement.hpp"
#include "harness/cli/options.hpp"
#include "harness/record/recorder.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::cli {

namespace {

Usage usage() {
  return {.program = "fleetbench analyze",
          .summary =
              "Says what a recorded run means, also one that broke off. Changes nothing in its "
              "folder.\n"
              "Exit codes: 0 PASS or WARN, 2 FAIL, 3 INCONCLUSIVE, 64 wrong usage.",
          .synopsis = "DIR [OPTIONS]",
          .options = {{"json", "print the report as JSON instead of the summary", ""},
                      {"min-effect",
                       "smallest slowdown worth telling, as compute=2 or all=5; may be repeated",
                       "LAYER=PERCENT", true},
                      baseline_option()},
          .epilogue = "",
          .positional = 1};
}

}  // namespace

int analyze_command(const Invocation& invocation) {
  const auto arguments = parse(usage(), invocation.arguments);
  if (arguments.has("help")) {
    fmt::print("{}", help(usage()));
    return kOk;
  }
  if (arguments.positional().empty()) {
    throw InputError("give one run directory: fleetbench analyze DIR");
  }
  const auto effects = min_effects(arguments.texts("min-effect"));
  const auto directory = record::RunDirectory::open(arguments.positional().front());
  const auto baseline = given_baseline(arguments);
  const Report report = judge(record::load_run(directory), effects, baseline);
  print(report, arguments.has("json"), directory.path().string());
  return run_exit_code(report.verdict, false);
}

}  // namespace fleetbench::cli
