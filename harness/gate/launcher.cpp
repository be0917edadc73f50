#include "harness/gate/launcher.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

namespace fleetbench::gate {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSleep_ms = 50;
constexpr std::size_t kLinesKept = 60;
constexpr std::size_t kLastLines = 12;
constexpr std::size_t kLongestLine = 400;

std::vector<std::string> environment() {
  constexpr const char* kRecovery = "OMPI_MCA_orte_enable_recovery=";
  std::vector<std::string> result;
  bool said = false;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    result.emplace_back(*variable);
    said = said || result.back().starts_with(kRecovery);
  }
  if (!said) {
    result.push_back(std::string(kRecovery) + "1");
  }
  return result;
}

// The fourth field of /proc/PID/stat, after a name in brackets that may hold anything.
pid_t parent_of(const std::filesystem::path& process) {
  std::string text;
  std::getline(std::ifstream(process / "stat"), text);
  const auto name_end = text.rfind(')');
  char state = 0;
  pid_t parent = -1;
  if (name_end != std::string::npos) {
    std::istringstream(text.substr(name_end + 1)) >> state >> parent;
  }
  return parent;
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") == std::string::npos &&
        parent_of(entry.path()) == parent) {
      children.push_back(std::stoi(name));
    }
  }
  return children;
}

void write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(to, text.data(), text.size());
    if (count < 0 && errno != EINTR) {
      return;  // nobody reads it
    }
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
}

}  // namespace

Launcher::Launcher(const std::vector<std::string>& command) : process_(command, environment()) {
  process_.close_input();
  // What outlives the launcher becomes a child of this process.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

bool Launcher::turn() {
  std::array<pollfd, 2> waiting{{{output_closed_ ? -1 : process_.output(), POLLIN, 0},
                                 {errors_closed_ ? -1 : process_.errors(), POLLIN, 0}}};
  ::poll(waiting.data(), waiting.size(), kSleep_ms);
  output_closed_ =
      output_closed_ || !pass_on(process_.output(), STDOUT_FILENO, shown_output_, false);
  errors_closed_ =
      errors_closed_ || !pass_on(process_.errors(), STDERR_FILENO, shown_errors_, true);
  exit_ = process_.reap();
  return !exit_;
}

// False once the other end is closed.
bool Launcher::pass_on(int from, int to, report::EscapedStream& shown, bool keep_it) {
  std::array<char, 16384> buffer{};
  while (true) {
    const ssize_t count = ::read(from, buffer.data(), buffer.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
      return true;
    }
    if (count <= 0) {
      write_all(to, shown.end());
      return false;
    }
    const std::string text(buffer.data(), static_cast<std::size_t>(count));
    write_all(to, shown.take(text));
    if (keep_it) {
      keep(text);
    }
  }
}

void Launcher::keep(const std::string& text) {
  for (const char letter : text) {
    if (lines_.empty()) {
      lines_.emplace_back();
    }
    if (letter != '\n' && letter != '\r') {
      if (lines_.back().size() < kLongestLine) {
        lines_.back() += letter;
      }
    } else if (!lines_.back().empty()) {
      lines_.emplace_back();
    }
  }
  while (lines_.size() > kLinesKept) {
    lines_.pop_front();
  }
}

void Launcher::end(double patience_s) {
  process_.signal_group(SIGTERM);
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(patience_s));
  while (turn() && Clock::now() < until) {
  }
  if (!exit_) {
    process_.signal_group(SIGKILL);
    const auto last = Clock::now() + std::chrono::seconds(1);
    while (turn() && Clock::now() < last) {
    }
  }
  end_what_is_left();
}

// Children of children become ours as these end.
void Launcher::end_what_is_left() const {
  const auto until = Clock::now() + std::chrono::seconds(2);
  while (Clock::now() < until) {
    const auto children = children_of(getpid());
    if (children.empty()) {
      return;
    }
    for (const pid_t child : children) {
      if (child != process_.pid()) {
        kill(child, SIGKILL);
        waitpid(child, nullptr, WNOHANG);
      }
    }
    usleep(20000);
  }
}

std::string Launcher::how_it_ended() const {
  return exit_ ? worker::describe(*exit_) : "does not end, the kernel holds it";
}

std::string Launcher::last_words() const {
  const auto first = lines_.size() - std::min(kLastLines, lines_.size());
  std::string text = fmt::format(
      "{}", fmt::join(lines_.begin() + static_cast<std::ptrdiff_t>(first), lines_.end(), "\n"));
  text.erase(text.find_last_not_of(" \n") + 1);
  return text;
}

std::vector<std::string> Launcher::lost_daemons() const {
  std::vector<std::string> nodes;
  for (const auto& line : lines_) {
    if (auto node = lost_daemon(line); !node.empty()) {
      nodes.push_back(std::move(node));
    }
  }
  return nodes;
}

std::string lost_daemon(const std::string& line) {
  constexpr std::string_view kWho = "Remote daemon:";
  constexpr std::string_view kWhere = " on node ";
  const auto where = line.find(kWhere);
  if (line.find(kWho) == std::string::npos || where == std::string::npos) {
    return "";
  }
  const auto node = line.substr(where + kWhere.size());
  return node.substr(0, node.find_first_of(" \t"));
}

}  // namespace fleetbench::gate
