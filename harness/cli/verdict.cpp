// `fleetbench verdict DIR`: the verdict of a run as a word and an exit code that no launcher masks.
#include <fmt/format.h>

#include "harness/cli/command.hpp"
#include "harness/cli/judgement.hpp"
#include "harness/cli/options.hpp"
#include "harness/record/recorder.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::cli {

namespace {

Usage usage() {
  return {.program = "fleetbench verdict",
          .summary =
              "Prints the verdict of a run. A run without a verdict file broke off: INCONCLUSIVE.\n"
              "Exit codes: 0 PASS, 1 WARN, 2 FAIL, 3 INCONCLUSIVE, 64 wrong usage.",
          .synopsis = "DIR",
          .options = {},
          .epilogue = "",
          .positional = 1};
}

}  // namespace

int verdict_command(const Invocation& invocation) {
  const auto arguments = parse(usage(), invocation.arguments);
  if (arguments.has("help")) {
    fmt::print("{}", help(usage()));
    return kOk;
  }
  if (arguments.positional().empty()) {
    throw InputError("give one run directory: fleetbench verdict DIR");
  }
  const auto directory = record::RunDirectory::open(arguments.positional().front());
  const Verdict verdict = record::load_verdict(directory);
  fmt::print("{}\n", to_string(verdict));
  return nagios_code(verdict);
}

}  // namespace fleetbench::cli
