#include "harness/cli/gate_options.hpp"

#include <algorithm>

#include "harness/cli/options.hpp"
#include "harness/cli/topology_source.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::cli {
namespace {

constexpr const char* kEpilogue =
    "The command after -- starts fleetbench under a launcher; the gate adds --out, --budget and "
    "what else the\nrun needs at its end. {hosts} and {count} in it stand for the hosts that are "
    "started on.\n\nExamples:\n"
    "  fleetbench gate --budget 3m -- mpirun --host n1,n2,n3,n4 fleetbench --suite quick\n"
    "  fleetbench gate --hosts 'n[01-64]' --retry-without-lost -- \\\n"
    "      mpirun -np {count} --host {hosts} fleetbench --suite quick\n\n"
    "Exit codes, whatever the launcher's is: 0 PASS, 1 WARN, 2 FAIL, 3 INCONCLUSIVE, 64 wrong "
    "usage, "
    "70 internal error.\n";

Usage usage() {
  return {
      .program = "fleetbench gate",
      .summary =
          "Runs fleetbench under a launcher and returns its verdict, whatever the launcher does: "
          "names hosts that do not come up, ends what hangs, reports what was measured.",
      .synopsis = "[OPTIONS] -- LAUNCHER ... fleetbench ...",
      .options =
          {{"out",
            "folder of the run, which all nodes share; default: a new one under fleetbench-runs/",
            "DIR"},
           {"budget", "all is over within this time (90s, 10m, 2h) and 5 s; default: no limit",
            "TIME"},
           {"launch-limit", "most that all ranks may take to come up; default: 60s", "TIME"},
           {"hosts",
            "expected, as n1,n2 or n[01-64]; default: those that the launcher's options name",
            "LIST"},
           topology_option(),
           {"retry-without-lost",
            "start again without hosts that did not come up or were lost with the run; twice at "
            "most",
            ""},
           {"json", "print report.json instead of the summary", ""}},
      .epilogue = kEpilogue};
}

}  // namespace

std::optional<GateOptions> parse_gate_options(const Invocation& invocation,
                                              std::string& help_text) {
  const auto dashes = std::ranges::find(invocation.arguments, "--");
  const auto arguments = parse(usage(), {invocation.arguments.begin(), dashes});
  if (arguments.has("help")) {
    help_text = help(usage());
    return std::nullopt;
  }
  if (dashes == invocation.arguments.end() || dashes + 1 == invocation.arguments.end()) {
    throw InputError(
        "say after -- what to start, as in: fleetbench gate -- mpirun -np 8 fleetbench --suite "
        "quick");
  }
  GateOptions options;
  options.out = arguments.text("out");
  if (arguments.has("budget")) {
    options.budget_s = duration_s("budget", arguments.text("budget"), 10);
  }
  if (arguments.has("launch-limit")) {
    options.launch_limit_s = duration_s("launch-limit", arguments.text("launch-limit"), 1);
  }
  if (arguments.has("hosts")) {
    options.hosts = gate::expand_hosts(arguments.text("hosts"));
  }
  options.topology = arguments.text("topology");
  options.retry_without_lost = arguments.has("retry-without-lost");
  options.json = arguments.has("json");
  options.command.assign(dashes + 1, invocation.arguments.end());
  gate::program_position(options.command);  // there has to be one
  for (const char* own : {"--under-gate", "--without"}) {
    const bool given = std::ranges::any_of(options.command, [&](const std::string& word) {
      return word == own || word.starts_with(std::string(own) + "=");
    });
    if (given) {
      throw InputError(std::string(own) + " is for the gate to add; leave it out");
    }
  }
  return options;
}

}  // namespace fleetbench::cli
