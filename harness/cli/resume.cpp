// `fleetbench resume DIR`: goes on with a run that broke off; every rank comes here.
#include <fmt/format.h>

#include "harness/cli/options.hpp"
#include "harness/cli/take_part.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::cli {
namespace {

Usage usage() {
  auto options = time_options();
  options.push_back({"json", "print report.json instead of the summary", ""});
  return {
      .program = "fleetbench resume",
      .summary =
          "Goes on with a run that broke off: measures only what is missing, with the nodes that "
          "are left, as the run was started.\n"
          "Exit codes: those of `fleetbench run`.",
      .synopsis = "DIR [OPTIONS]",
      .options = std::move(options),
      .epilogue =
          "Example:\n"
          "  mpirun -np 63 --map-by ppr:1:node --hostfile hosts-left fleetbench resume "
          "/shared/run1\n",
      .positional = 1};
}

}  // namespace

int resume_command(const Invocation& invocation) {
  Arguments arguments;
  RunOptions times;
  try {
    arguments = parse(usage(), invocation.arguments);
    if (!arguments.has("help") && arguments.positional().empty()) {
      throw InputError("give the folder of the run: fleetbench resume DIR");
    }
    read_time_options(arguments, times);
    times.json = arguments.has("json");
  } catch (const InputError&) {
    if (!is_root_process()) {
      return kUsageError;
    }
    throw;
  }
  if (arguments.has("help")) {
    if (is_root_process()) {
      fmt::print("{}", help(usage()));
    }
    return kOk;
  }
  return take_part(times, invocation.start, [&](worker::Worker& worker) {
    return plan_to_resume(arguments.positional().front(), times, worker);
  });
}

}  // namespace fleetbench::cli
