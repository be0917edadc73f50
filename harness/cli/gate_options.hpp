// The options of `fleetbench gate`.
#pragma once

#include <optional>
#include <string>

#include "harness/cli/command.hpp"
#include "harness/gate/hosts.hpp"

namespace fleetbench::cli {

struct GateOptions {
  std::string out;  // empty: what the command says, else a new folder under fleetbench-runs/
  std::optional<double> budget_s;
  double launch_limit_s = 60;
  std::string topology;  // file that describes the switches; empty: what the command says
  gate::Words hosts;     // expected; empty: what the launcher's options name
  bool retry_without_lost = false;
  bool json = false;
  gate::Words command;  // what follows --
};

// Empty where only help was asked for, which stands in `help_text`. Throws InputError.
std::optional<GateOptions> parse_gate_options(const Invocation& invocation, std::string& help_text);

}  // namespace fleetbench::cli
