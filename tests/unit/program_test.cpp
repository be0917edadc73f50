#include "probes/support/program.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace fleetbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ProgramEnd shell(const std::string& script, const ProgramOptions& options = {}) {
  return run_program({"sh", "-c", script}, options);
}

TEST(Program, GivesItsOutputAndHowItEnded) {
  const auto end = shell("echo out; echo err >&2; exit 3");
  EXPECT_EQ(end.output, "out\n");
  EXPECT_EQ(end.errors, "err\n");
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_FALSE(end.ok());
  EXPECT_EQ(end.how(), "exited with code 3: err");
  EXPECT_TRUE(shell("true").ok());
}

TEST(Program, ArgumentsAreNoShellsBusiness) {
  EXPECT_EQ(run_program({"echo", "$HOME; *"}, {}).output, "$HOME; *\n");
}

TEST(Program, TellsOfASignal) {
  EXPECT_EQ(shell("kill -9 $$").how(), "ended by signal 9 (Killed)");
}

TEST(Program, ItsLastWordsAreMadePrintable) {
  EXPECT_EQ(shell("printf 'a\\033[31mb\\n' >&2; exit 1").how(), "exited with code 1: a [31mb");
}

TEST(Program, IsEndedWhenItsTimeIsUpWithAllThatItStarted) {
  const auto start = std::chrono::steady_clock::now();
  const auto end = shell("trap '' TERM; sleep 100 & echo $!; wait; sleep 100", {.limit_s = 0.2});
  EXPECT_TRUE(end.timed_out);
  EXPECT_THAT(end.how(), HasSubstr("did not end within"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  const pid_t sleeper = std::stoi(end.output);
  for (int i = 0; i < 100 && kill(sleeper, 0) == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  // A container without an init keeps it as a zombie, which runs no more.
  EXPECT_TRUE(kill(sleeper, 0) != 0 ||
              shell("grep -q 'State:.Z' /proc/" + std::to_string(sleeper) + "/status").ok());
}

TEST(Program, OutputIsCutWhereItIsTooMuch) {
  EXPECT_EQ(shell("yes | head -c 100000", {.kept_bytes = 10}).output, "y\ny\ny\ny\ny\n");
}

TEST(Program, LinesAreHandedOverAsTheyCome) {
  std::vector<std::string> lines;
  ProgramOptions options;
  options.on_line = [&](std::string_view line) { lines.emplace_back(line); };
  const auto end = shell("echo one; echo; printf two", options);
  EXPECT_THAT(lines, ElementsAre("one", "", "two"));
  EXPECT_EQ(end.output, "");
}

TEST(Program, SeesTheEnvironmentAndFolderThatItIsGiven) {
  ProgramOptions options{.environment = {"HOME=/elsewhere", "NEW=1"}, .folder = "/"};
  EXPECT_EQ(shell("echo $HOME $NEW; pwd", options).output, "/elsewhere 1\n/\n");
}

TEST(Program, SaysWhyItCannotBeStarted) {
  const auto error_of = [](const std::string& name, const ProgramOptions& options) {
    try {
      run_program({name}, options);
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(error_of("no-such-program", {}), "no-such-program: there is no such program here");
  EXPECT_THAT(error_of("true", {.folder = "/nowhere"}),
              HasSubstr("true cannot be started in /nowhere: No such file"));
  EXPECT_THAT(error_of("/etc", {}), HasSubstr("/etc cannot be started: Permission denied"));
}

}  // namespace
}  // namespace fleetbench
