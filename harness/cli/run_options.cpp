#include "harness/cli/run_options.hpp"

#include <fmt/format.h>

#include <random>
#include <sstream>

#include "harness/cli/baseline_source.hpp"
#include "harness/cli/options.hpp"
#include "harness/cli/topology_source.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  mpirun -np 64 --map-by ppr:1:node --hostfile hosts fleetbench --suite quick\n"
    "  srun --mpi=pmix -K -N 64 --ntasks-per-node=1 fleetbench --suite full --out /shared/run1\n"
    "  mpirun -np 8 fleetbench --suite quick --only 'mpi_*' --passes 9\n"
    "  mpirun -np 4 --oversubscribe fleetbench --suite quick --nodes-by rank   (one machine)\n\n"
    "The folder of a run holds run.json, journal.jsonl, report.json, fleetbench.prom and verdict;\n"
    "`fleetbench analyze FOLDER` prints its report again.\n"
    "Exit codes: 0 PASS or WARN, 2 FAIL, 3 INCONCLUSIVE, 4 WARN with --exit-on-warn, 64 wrong "
    "usage, 70 internal error.\n";

Usage usage() {
  return {
      .program = "fleetbench run",
      .summary = "Measures every node and link of an MPI job and says who is slow.",
      .synopsis = "--suite NAME|FILE [OPTIONS]",
      .options =
          {{"s,suite", "what to measure: a suite (`fleetbench list suites`) or a scenario file",
            "NAME|FILE"},
           {"o,out", "folder of the run; default: a new one under fleetbench-runs/", "DIR"},
           {"only", "run only the steps whose id or probe matches; may be repeated", "GLOB", true},
           {"skip", "leave out the steps whose id or probe matches; may be repeated", "GLOB", true},
           {"passes", "rounds over all steps instead of the suite's", "N"},
           {"schedule",
            "alone: one node or pair at a time; together: all at once; instead of the steps'",
            "alone|together"},
           {"nodes-by", "what is a node: a host (default) or each rank", "host|rank"},
           {"scratch", "folder on each node for what probes write; default: $TMPDIR or /var/tmp",
            "DIR"},
           {"seed", "of orders and matchings; default: drawn and printed", "N"},
           {"min-effect", "smallest slowdown worth telling, as compute=2 or all=5; may be repeated",
            "LAYER=PERCENT", true},
           baseline_option(),
           topology_option(),
           {"no-confirm", "do not measure again what looks slow", ""},
           {"confirm-limit",
            "most that measuring again may take; default: 60, or a quarter of the time before it "
            "where that is more",
            "SECONDS"},
           time_options()[0],
           time_options()[1],
           {"without", "hosts that should have taken part and did not come up; the report says so",
            "HOST,..."},
           {"under-gate", "`fleetbench gate` adds this: leave a mark in the folder of --out", ""},
           {"json", "print report.json instead of the summary", ""},
           {"exit-on-warn", "exit with 4 where the verdict is WARN", ""}},
      .epilogue = kExamples};
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    if (!part.empty()) {
      parts.push_back(part);
    }
  }
  return parts;
}

std::string one_of(const Arguments& arguments, const char* name,
                   const std::vector<std::string>& allowed) {
  const auto text = arguments.text(name);
  if (!arguments.has(name) || text == allowed.front() || text == allowed.back()) {
    return text;
  }
  throw InputError(
      fmt::format("--{} {}: is neither {} nor {}", name, text, allowed.front(), allowed.back()));
}

SuiteOptions suite_options(const Arguments& arguments) {
  if (!arguments.has("suite")) {
    throw InputError(
        "--suite is missing: say what to measure, for example --suite quick; "
        "`fleetbench list suites` shows what there is");
  }
  SuiteOptions suite;
  suite.suite = arguments.text("suite");
  suite.only = arguments.texts("only");
  suite.skip = arguments.texts("skip");
  if (arguments.has("passes")) {
    suite.passes = static_cast<int>(whole_number("passes", arguments.text("passes"), 1, 100000));
  }
  const auto schedule = one_of(arguments, "schedule", {"alone", "together"});
  suite.schedule = schedule == "alone"      ? plan::ScheduleOverride::alone
                   : schedule == "together" ? plan::ScheduleOverride::together
                                            : plan::ScheduleOverride::none;
  if (one_of(arguments, "nodes-by", {"host", "rank"}) == "rank") {
    suite.nodes_by = plan::NodesBy::rank;
  }
  suite.scratch = arguments.text("scratch");
  if (arguments.has("scratch") && !suite.scratch.starts_with('/')) {
    throw InputError(
        fmt::format("--scratch {}: nodes need not share a working folder, so give a path from /",
                    suite.scratch));
  }
  return suite;
}

}  // namespace

std::vector<Option> time_options() {
  return {
      {"budget",
       "the whole run ends within this time (90s, 10m, 2h) and 5 s; what was left out for it is "
       "listed; default: no limit",
       "TIME"},
      {"launch-limit", "most that all ranks may take to come up; default: 2m", "TIME"}};
}

void read_time_options(const Arguments& arguments, RunOptions& run) {
  if (arguments.has("budget")) {
    run.budget_s = duration_s("budget", arguments.text("budget"), 5);
  }
  if (arguments.has("launch-limit")) {
    run.launch_limit_s = duration_s("launch-limit", arguments.text("launch-limit"), 1);
  }
}

std::optional<RunOptions> parse_run_options(const Invocation& invocation, std::string& help_text) {
  const auto arguments = parse(usage(), invocation.arguments);
  if (arguments.has("help")) {
    help_text = help(usage());
    return std::nullopt;
  }
  RunOptions run;
  run.suite = suite_options(arguments);
  run.out = arguments.text("out");
  run.seed =
      arguments.has("seed")
          ? static_cast<std::uint64_t>(whole_number("seed", arguments.text("seed"), 0, 4294967295))
          : std::random_device{}();
  if (arguments.has("baseline")) {
    run.baseline = arguments.text("baseline");
  }
  if (arguments.has("topology")) {
    run.topology = arguments.text("topology");
  }
  run.json = arguments.has("json");
  run.exit_on_warn = arguments.has("exit-on-warn");
  run.confirm = !arguments.has("no-confirm");
  if (arguments.has("confirm-limit")) {
    run.confirm_limit_s = static_cast<double>(
        whole_number("confirm-limit", arguments.text("confirm-limit"), 1, 1000000));
  }
  run.min_effect = min_effects(arguments.texts("min-effect"));
  read_time_options(arguments, run);
  run.without = split_at_commas(arguments.text("without"));
  run.under_gate = arguments.has("under-gate");
  if (run.under_gate && run.out.empty()) {
    throw InputError("--under-gate needs the folder of the run: --out DIR");
  }
  return run;
}

}  // namespace fleetbench::cli
