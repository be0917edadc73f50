// Another program, run to its end by a probe.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fleetbench {

struct ProgramEnd {
  int exit_code = -1;  // -1 where a signal ended it
  int signal = 0;
  bool timed_out = false;  // its time was up, so it was ended
  std::string output;      // standard output, at most ProgramOptions::kept_bytes of it
  std::string errors;      // the end of standard error, at most 4 KiB
  double wall_s = 0;
  double cpu_s = 0;  // of it and all its children

  bool ok() const { return !timed_out && exit_code == 0; }
  // "exited with code 1: last line of its standard error", "ended by signal 9 (Killed)",
  // "did not end within 5 s"; printable whatever the program wrote.
  std::string how() const;
};

struct ProgramOptions {
  double limit_s = 60;
  std::size_t kept_bytes = std::size_t{16} << 20;
  std::vector<std::string> environment;  // "NAME=VALUE", on top of this process's
  std::string folder;                    // where it starts, absolute; empty: here
  // Called with each whole line of standard output, without its end; nothing is kept then. A line
  // longer than 64 KiB is cut there.
  std::function<void(std::string_view)> on_line;
};

// Where `name` is found: where it has a slash, itself, seen from `folder` (absolute; empty: here);
// else in $PATH. Nothing where it is not.
std::optional<std::string> find_program(const std::string& name, const std::string& folder = "");

// Runs argv[0] (see find_program) without a shell, with nothing on standard input, and waits. The
// program leads a process group of its own, all of which is killed when this returns; it dies with
// this process. One at a time. Throws std::runtime_error naming argv[0]
// where it cannot be started; what becomes of it afterwards is the result.
ProgramEnd run_program(const std::vector<std::string>& argv, const ProgramOptions& options);

// From now on SIGTERM ends the program that runs, with all that it started, before this process.
void end_program_on_sigterm();

}  // namespace fleetbench
