#include "harness/cli/progress_lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "harness/report/escape.hpp"

namespace fleetbench::cli {
namespace {

using namespace std::chrono_literals;

// A log wants to know that the run is alive, not each of hundreds of slots.
constexpr auto kPlainInterval = 5s;

}  // namespace

ProgressLines::ProgressLines() : live_(isatty(STDERR_FILENO) != 0) {}

ProgressLines::~ProgressLines() { wipe(); }

void ProgressLines::slot(int number, int count, const std::string& what) {
  last_ = fmt::format("[{}/{}] {}", number, count, what);
  show(last_);
}

void ProgressLines::waiting_for(const std::vector<std::string>& nodes) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> named(nodes.begin(),
                                 nodes.begin() + static_cast<long>(std::min(kMost, nodes.size())));
  const auto more =
      nodes.size() > kMost ? fmt::format(" and {} more", nodes.size() - kMost) : std::string();
  show(fmt::format("{}: waiting for {}{}", last_, fmt::join(named, ", "), more));
}

void ProgressLines::note(const std::string& text) {
  wipe();
  fmt::print(stderr, "fleetbench: {}\n", report::escaped(text));
}

void ProgressLines::show(const std::string& text) {
  const auto now = std::chrono::steady_clock::now();
  const auto seconds = std::chrono::duration<double>(now - start_).count();
  const auto line = report::escaped(fmt::format("{:5.0f} s  {}", seconds, text));
  if (live_) {
    fmt::print(stderr, "\r\x1b[K{}", report::first_columns(line, 100));
    std::fflush(stderr);
    shown_ = true;
  } else if (now - last_plain_ >= kPlainInterval) {
    fmt::print(stderr, "{}\n", line);
    last_plain_ = now;
  }
}

void ProgressLines::wipe() {
  if (shown_) {
    fmt::print(stderr, "\r\x1b[K");
    std::fflush(stderr);
    shown_ = false;
  }
}

}  // namespace fleetbench::cli
