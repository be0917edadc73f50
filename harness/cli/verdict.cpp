// `fleetbench verdict DIR`: the verdict of a run as a word and an exit code that no launcher masks.
#include <fmt/format.h>

#include "harness/cli/command.hpp"
#include "harness/cli/judgement.hpp"
#include "harness/cli/options.hpp"
#include "harness/record/recorder.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::cli {

int verdict_command(const Invocation& invocation) {
  cxxopts::Options options(
      "fleetbench verdict",
      "Prints the verdict of a run. A run without a verdict file broke off: INCONCLUSIVE.\n"
      "Exit codes: 0 PASS, 1 WARN, 2 FAIL, 3 INCONCLUSIVE, 64 wrong usage.\n");
  options.custom_help("DIR");
  options.positional_help("");
  options.add_options()("h,help", "print this")("dir", "the run directory",
                                                cxxopts::value<std::string>());
  options.parse_positional({"dir"});
  const auto result = parse(options, invocation.arguments);
  if (result.count("help") > 0) {
    fmt::print("{}", options.help());
    return kOk;
  }
  if (result.count("dir") == 0 || !result.unmatched().empty()) {
    throw InputError("give one run directory: fleetbench verdict DIR");
  }
  const auto directory = record::RunDirectory::open(result["dir"].as<std::string>());
  const Verdict verdict = record::load_verdict(directory);
  fmt::print("{}\n", to_string(verdict));
  return nagios_exit_code(verdict);
}

}  // namespace fleetbench::cli
