// The commands of fleetbench.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace fleetbench::cli {

// What the process ends with. 1 is left to mpirun, which ends with it for failures of its own.
inline constexpr int kOk = 0;
inline constexpr int kFailVerdict = 2;
inline constexpr int kInconclusive = 3;
inline constexpr int kWarnVerdict = 4;  // with --exit-on-warn
inline constexpr int kUsageError = 64;
inline constexpr int kInternalError = 70;

struct Invocation {
  std::vector<std::string> arguments;  // without the program's and the command's name
  std::chrono::steady_clock::time_point start;
};

struct Command {
  const char* name;
  const char* summary;
  // Returns the exit code. Throws InputError for what the user can mend.
  int (*run)(const Invocation& invocation);
};

const std::vector<Command>& commands();
const Command* find_command(const std::string& name);

// Says on standard error what went wrong, each line after the program's name. What came from nodes
// or files cannot move the cursor.
void complain(const std::string& text);

// `fleetbench --help`
std::string overview();

int run_command(const Invocation& invocation);
int gate_command(const Invocation& invocation);
int resume_command(const Invocation& invocation);
int analyze_command(const Invocation& invocation);
int report_command(const Invocation& invocation);
int verdict_command(const Invocation& invocation);
int baseline_command(const Invocation& invocation);
int simulate_command(const Invocation& invocation);
int list_command(const Invocation& invocation);
int doctor_command(const Invocation& invocation);

}  // namespace fleetbench::cli
