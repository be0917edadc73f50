// The options of `fleetbench run`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/command.hpp"
#include "harness/cli/options.hpp"
#include "harness/cli/suite.hpp"

namespace fleetbench::cli {

struct RunOptions {
  SuiteOptions suite;
  std::string out;                      // empty: a new folder under fleetbench-runs/
  std::optional<std::string> baseline;  // file or run directory
  std::optional<std::string> topology;  // file that describes the switches
  std::uint64_t seed = 0;
  std::optional<double> budget_s;    // of the whole run, from the start of this process
  double launch_limit_s = 120;       // for all ranks to come up
  std::vector<std::string> without;  // hosts that were expected and did not come up
  bool under_gate = false;           // `fleetbench gate` started this
  bool json = false;
  bool exit_on_warn = false;
  bool confirm = true;                    // measure suspects again
  std::optional<double> confirm_limit_s;  // absent: by how long the run took
  std::map<Layer, double> min_effect;
};

// What `run` and `resume` share.
std::vector<Option> time_options();
void read_time_options(const Arguments& arguments, RunOptions& run);

// Empty where only help was asked for, which stands in `help_text`. Throws InputError.
std::optional<RunOptions> parse_run_options(const Invocation& invocation, std::string& help_text);

}  // namespace fleetbench::cli
