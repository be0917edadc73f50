// `fleetbench analyze RUN_DIR|FILE...`: the report of a recorded run, made again from its journal,
// or of what another tool measured.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>

#include "harness/cli/baseline_source.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/judgement.hpp"
#include "harness/cli/options.hpp"
#include "harness/cli/topology_source.hpp"
#include "harness/record/sample_file.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::cli {

namespace {

Usage usage() {
  return {
      .program = "fleetbench analyze",
      .summary =
          "Says what a recorded run means, also one that broke off, or what another tool "
          "measured. Changes nothing in its folder.\n"
          "Exit codes: 0 PASS or WARN, 2 FAIL, 3 INCONCLUSIVE, 64 wrong usage.",
      .synopsis = "RUN_DIR|FILE... [OPTIONS]",
      .options = {{"json", "print the report as JSON instead of the summary", ""},
                  {"min-effect",
                   "smallest slowdown worth telling, as compute=2 or all=5; may be repeated",
                   "LAYER=PERCENT", true},
                  baseline_option(),
                  topology_option()},
      .epilogue =
          "A FILE is told by what is in it:\n"
          "  a CSV with a header that has node, metric and value; may have device, peer, rail,\n"
          "    unit, better, layer, cohort, pass, status\n"
          "  SuperBench's results-summary.jsonl\n"
          "  logs of nccl-tests, and the JSON of its option -J\n"
          "Several files of one kind make one run, and --topology counts instead of what a run\n"
          "was started with. docs/imported-samples.md says more.\n",
      .positional = kAnyNumber};
}

}  // namespace

int analyze_command(const Invocation& invocation) {
  const auto arguments = parse(usage(), invocation.arguments);
  if (arguments.has("help")) {
    fmt::print("{}", help(usage()));
    return kOk;
  }
  if (arguments.positional().empty()) {
    throw InputError("give a run directory or files: fleetbench analyze RUN_DIR|FILE...");
  }
  const auto effects = min_effects(arguments.texts("min-effect"));
  const std::vector<std::filesystem::path> paths(arguments.positional().begin(),
                                                 arguments.positional().end());
  const auto topology = arguments.has("topology")
                            ? std::optional(read_topology_file(arguments.text("topology")))
                            : std::nullopt;
  record::LoadedRun loaded = record::load_samples(paths);
  if (topology) {
    std::ranges::move(describe_switches(loaded.run.header, *topology, arguments.text("topology")),
                      std::back_inserter(loaded.notes));
  }
  Report report = judge(loaded.run, effects, given_baseline(arguments));
  report.notes.insert(report.notes.end(), loaded.notes.begin(), loaded.notes.end());
  print(report, loaded.run, arguments.has("json"),
        loaded.run.imported ? "" : paths.front().string());
  return run_exit_code(report.verdict, false);
}

}  // namespace fleetbench::cli
