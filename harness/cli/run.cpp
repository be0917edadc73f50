// `fleetbench run`: measures; every rank comes here.
#include <fmt/format.h>

#include "harness/cli/take_part.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::cli {

int run_command(const Invocation& invocation) {
  std::string help;
  std::optional<RunOptions> options;
  try {
    options = parse_run_options(invocation, help);
  } catch (const InputError&) {
    if (!is_root_process()) {
      return kUsageError;  // said once is enough
    }
    throw;
  }
  if (!options) {
    if (is_root_process()) {
      fmt::print("{}", help);
    }
    return kOk;
  }
  return take_part(*options, invocation.start,
                   [&](worker::Worker& worker) { return plan_run(*options, invocation, worker); });
}

}  // namespace fleetbench::cli
