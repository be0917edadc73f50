// argv → command → exit code.
#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <new>

#include "harness/cli/command.hpp"
#include "harness/fleet/job.hpp"
#include "results-schema/check.hpp"
#include "results-schema/version.hpp"

namespace {

using namespace fleetbench;

// `fleetbench --suite quick` is short for `fleetbench run --suite quick`.
const cli::Command& choose(std::vector<std::string>& arguments) {
  if (arguments.front().starts_with("-")) {
    return *cli::find_command("run");
  }
  const auto* command = cli::find_command(arguments.front());
  if (command == nullptr) {
    throw InputError(
        fmt::format("\"{}\" is no command; `fleetbench --help` lists them", arguments.front()));
  }
  arguments.erase(arguments.begin());
  return *command;
}

int execute(std::vector<std::string> arguments, std::chrono::steady_clock::time_point start) {
  if (arguments.empty() || arguments.front() == "--help" || arguments.front() == "-h") {
    fmt::print("{}", cli::overview());
    return arguments.empty() ? cli::kUsageError : cli::kOk;
  }
  if (arguments.front() == "--version") {
    fmt::print("fleetbench {} ({})\n", kVersion, kBuild);
    return cli::kOk;
  }
  const auto& command = choose(arguments);
  return command.run({std::move(arguments), start});
}

}  // namespace

int main(int argc, char** argv) {
  const auto start = std::chrono::steady_clock::now();
  std::signal(SIGPIPE, SIG_IGN);  // a worker that is gone is a result
  try {
    return execute({argv + 1, argv + argc}, start);
  } catch (const InputError& error) {
    cli::complain(error.what());
    return cli::kUsageError;
  } catch (const std::bad_alloc&) {
    cli::complain("not enough memory for this input; give less at a time, or use a larger machine");
    return cli::kInternalError;
  } catch (const std::exception& error) {
    cli::complain(error.what());
    return cli::kInternalError;
  }
}
