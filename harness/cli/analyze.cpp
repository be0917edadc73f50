// `fleetbench analyze DIR`: the report of a recorded run, made again from its journal.
#include <fmt/format.h>

#include "harness/cli/command.hpp"
#include "harness/cli/judgement.hpp"
#include "harness/cli/options.hpp"
#include "harness/record/recorder.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::cli {

int analyze_command(const Invocation& invocation) {
  cxxopts::Options options(
      "fleetbench analyze",
      "Says what a recorded run means, also one that broke off. Changes nothing in its folder.\n"
      "Exit codes: 0 PASS or WARN, 2 FAIL, 3 INCONCLUSIVE, 64 wrong usage.\n");
  options.custom_help("DIR [OPTIONS]");
  options.positional_help("");
  options.add_options()("h,help", "print this")  //
      ("dir", "the run directory", cxxopts::value<std::string>())(
          "json", "print the report as JSON instead of the summary")(
          "min-effect", "smallest slowdown worth telling, as compute=2 or all=5; may be repeated",
          cxxopts::value<std::vector<std::string>>(), "LAYER=PERCENT");
  options.parse_positional({"dir"});
  const auto result = parse(options, invocation.arguments, {"min-effect"});
  if (result.count("help") > 0) {
    fmt::print("{}", options.help());
    return kOk;
  }
  if (result.count("dir") == 0 || !result.unmatched().empty()) {
    throw InputError("give one run directory: fleetbench analyze DIR");
  }
  const auto effects = result.count("min-effect") > 0
                           ? min_effects(result["min-effect"].as<std::vector<std::string>>())
                           : std::map<Layer, double>();
  const auto directory = record::RunDirectory::open(result["dir"].as<std::string>());
  const Report report = judge(record::load_run(directory), effects);
  print(report, result.count("json") > 0, directory.path().string());
  return run_exit_code(report.verdict, false);
}

}  // namespace fleetbench::cli
