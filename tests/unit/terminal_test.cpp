// What is said on standard error steers no terminal, whoever gave the names in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/cli/command.hpp"
#include "harness/cli/progress_lines.hpp"

namespace fleetbench::cli {
namespace {

const std::string kHostile = "n\x1b[2J\n\u202e\u009b\u200b\xff\x7f";
const std::string kShown = R"(n\x1b[2J\n\xe2\x80\xae\xc2\x9b\xe2\x80\x8b\xff\x7f)";

std::string said(const std::function<void()>& work) {
  testing::internal::CaptureStderr();
  work();
  std::fflush(stderr);
  return testing::internal::GetCapturedStderr();
}

TEST(Terminal, ProgressNamesNodesHarmlessly) {
  EXPECT_THAT(said([] { ProgressLines().slot(1, 2, kHostile); }),
              testing::EndsWith(" s  [1/2] " + kShown + "\n"));
  EXPECT_THAT(said([] {
                ProgressLines().waiting_for({kHostile, "b"});
              }),
              testing::EndsWith(": waiting for " + kShown + ", b\n"));
  EXPECT_EQ(said([] { ProgressLines().note(kHostile); }), "fleetbench: " + kShown + "\n");
}

TEST(Terminal, ComplaintsKeepTheirLinesAndNothingElse) {
  EXPECT_EQ(said([] { complain("a\x1b[2J\nb\u202e"); }),
            "fleetbench: a\\x1b[2J\nfleetbench: b\\xe2\\x80\\xae\n");
}

}  // namespace
}  // namespace fleetbench::cli
