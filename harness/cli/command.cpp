#include "harness/cli/command.hpp"

#include <fmt/format.h>

#include <sstream>

#include "harness/report/escape.hpp"
#include "results-schema/version.hpp"

namespace fleetbench::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> all{
      {"run", "measure a fleet and say who is slow (the default command)", run_command},
      {"gate", "run under a launcher and return the verdict, whatever the launcher does",
       gate_command},
      {"resume", "go on with a run that broke off", resume_command},
      {"analyze", "say again what a recorded run means, or what another tool measured",
       analyze_command},
      {"report", "print a recorded run, also as Prometheus metrics or as nccl-tests' tables",
       report_command},
      {"verdict", "print the verdict of a run; the exit code is Nagios'", verdict_command},
      {"baseline", "keep what healthy runs measured, to compare later ones with", baseline_command},
      {"simulate", "write samples of a fleet that does not exist, with known faults",
       simulate_command},
      {"list", "list probes, suites or metrics", list_command},
      {"doctor", "say what this machine can measure, and how to launch here", doctor_command}};
  return all;
}

const Command* find_command(const std::string& name) {
  for (const auto& command : commands()) {
    if (name == command.name) {
      return &command;
    }
  }
  return nullptr;
}

void complain(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    fmt::print(stderr, "fleetbench: {}\n", report::escaped(line));
  }
  std::fflush(stderr);
}

std::string overview() {
  std::string text = fmt::format(
      "fleetbench {}: finds the node or link that is slow, by comparing it with its peers.\n\n"
      "Usage: mpirun -np RANKS [--hostfile FILE] fleetbench --suite quick\n"
      "       fleetbench COMMAND [OPTIONS]\n\nCommands:\n",
      kVersion);
  for (const auto& command : commands()) {
    text += fmt::format("  {:<8}  {}\n", command.name, command.summary);
  }
  text +=
      "\nExamples:\n"
      "  mpirun -np 64 --map-by ppr:1:node --hostfile hosts fleetbench --suite quick\n"
      "  srun --mpi=pmix -K -N 64 --ntasks-per-node=1 fleetbench --suite full --out /shared/run1\n"
      "  fleetbench list suites\n"
      "  fleetbench doctor\n"
      "\n`fleetbench COMMAND --help` says more about each command.\n"
      "Exit codes of a run: 0 PASS or WARN, 2 FAIL, 3 INCONCLUSIVE, 64 wrong usage, 70 internal "
      "error.\n";
  return text;
}

}  // namespace fleetbench::cli
