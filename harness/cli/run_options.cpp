#include "harness/cli/run_options.hpp"

#include <fmt/format.h>

#include <random>

#include "harness/cli/options.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  mpirun -np 64 --map-by ppr:1:node --hostfile hosts fleetbench --suite quick\n"
    "  srun --mpi=pmix -N 64 --ntasks-per-node=1 fleetbench --suite full --out /shared/run1\n"
    "  mpirun -np 8 fleetbench --suite quick --only 'mpi_*' --passes 9\n"
    "  mpirun -np 4 --oversubscribe fleetbench --suite quick --nodes-by rank   (one machine)\n\n"
    "The folder of a run holds run.json, journal.jsonl, report.json, fleetbench.prom and verdict;\n"
    "`fleetbench analyze FOLDER` prints its report again.\n"
    "Exit codes: 0 PASS or WARN, 2 FAIL, 3 INCONCLUSIVE, 4 WARN with --exit-on-warn, 64 wrong "
    "usage, 70 internal error.\n";

cxxopts::Options describe_options() {
  cxxopts::Options options("fleetbench run",
                           "Measures every node and link of an MPI job and says who is slow.\n");
  options.custom_help("--suite NAME|FILE [OPTIONS]");
  options.add_options()  //
      ("s,suite", "what to measure: a suite (`fleetbench list suites`) or a scenario file",
       cxxopts::value<std::string>(), "NAME|FILE")  //
      ("o,out", "folder of the run; default: a new one under fleetbench-runs/",
       cxxopts::value<std::string>(), "DIR")  //
      ("only", "run only the steps whose id or probe matches; may be repeated",
       cxxopts::value<std::vector<std::string>>(), "GLOB")  //
      ("skip", "leave out the steps whose id or probe matches; may be repeated",
       cxxopts::value<std::vector<std::string>>(), "GLOB")  //
      ("passes", "rounds over all steps instead of the suite's", cxxopts::value<std::string>(),
       "N")  //
      ("schedule",
       "alone: one node or pair at a time; together: all at once; instead of the steps'",
       cxxopts::value<std::string>(), "alone|together")  //
      ("nodes-by", "what is a node: a host (default) or each rank", cxxopts::value<std::string>(),
       "host|rank")  //
      ("seed", "of orders and matchings; default: drawn and printed", cxxopts::value<std::string>(),
       "N")  //
      ("min-effect", "smallest slowdown worth telling, as compute=2 or all=5; may be repeated",
       cxxopts::value<std::vector<std::string>>(), "LAYER=PERCENT")  //
      ("json", "print report.json instead of the summary")           //
      ("exit-on-warn", "exit with 4 where the verdict is WARN")      //
      ("h,help", "print this");
  return options;
}

std::vector<std::string> texts(const cxxopts::ParseResult& result, const char* name) {
  return result.count(name) > 0 ? result[name].as<std::vector<std::string>>()
                                : std::vector<std::string>();
}

std::string one_of(const cxxopts::ParseResult& result, const char* name,
                   const std::vector<std::string>& allowed) {
  if (result.count(name) == 0) {
    return "";
  }
  const auto text = result[name].as<std::string>();
  for (const auto& value : allowed) {
    if (text == value) {
      return text;
    }
  }
  throw InputError(
      fmt::format("--{} {}: is neither {} nor {}", name, text, allowed.front(), allowed.back()));
}

SuiteOptions suite_options(const cxxopts::ParseResult& result) {
  if (result.count("suite") == 0) {
    throw InputError(
        "--suite is missing: say what to measure, for example --suite quick; "
        "`fleetbench list suites` shows what there is");
  }
  SuiteOptions suite;
  suite.suite = result["suite"].as<std::string>();
  suite.only = texts(result, "only");
  suite.skip = texts(result, "skip");
  if (result.count("passes") > 0) {
    suite.passes =
        static_cast<int>(whole_number("passes", result["passes"].as<std::string>(), 1, 100000));
  }
  const auto schedule = one_of(result, "schedule", {"alone", "together"});
  suite.schedule = schedule == "alone"      ? plan::ScheduleOverride::alone
                   : schedule == "together" ? plan::ScheduleOverride::together
                                            : plan::ScheduleOverride::none;
  if (one_of(result, "nodes-by", {"host", "rank"}) == "rank") {
    suite.nodes_by = plan::NodesBy::rank;
  }
  return suite;
}

}  // namespace

std::optional<RunOptions> parse_run_options(const Invocation& invocation, std::string& help) {
  auto options = describe_options();
  const auto result = parse(options, invocation.arguments, {"only", "skip", "min-effect"});
  if (result.count("help") > 0) {
    help = options.help() + "\n" + kExamples;
    return std::nullopt;
  }
  if (!result.unmatched().empty()) {
    throw InputError(
        fmt::format("\"{}\" is not understood: options begin with --", result.unmatched().front()));
  }
  RunOptions run;
  run.suite = suite_options(result);
  run.out = result.count("out") > 0 ? result["out"].as<std::string>() : "";
  run.seed = result.count("seed") > 0
                 ? static_cast<std::uint64_t>(
                       whole_number("seed", result["seed"].as<std::string>(), 0, 4294967295))
                 : std::random_device{}();
  run.json = result.count("json") > 0;
  run.exit_on_warn = result.count("exit-on-warn") > 0;
  run.min_effect = min_effects(texts(result, "min-effect"));
  return run;
}

}  // namespace fleetbench::cli
