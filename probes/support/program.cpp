#include "probes/support/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "probes/support/printable.hpp"
#include "probes/support/text_fields.hpp"

namespace fleetbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kErrorBytes = 4096;
constexpr std::size_t kLongestLine = 65536;
constexpr int kTick_ms = 10;  // for the end of a program whose pipes others hold open
constexpr double kTermGrace_s = 1;
constexpr int kReadsAtOnce = 16;

// The process group of the program that runs; 0 while none does.
std::atomic<pid_t> running_group{0};
static_assert(std::atomic<pid_t>::is_always_lock_free);  // a signal handler reads it

void end_program_and_self(int signal_number) {
  const pid_t group = running_group;
  if (group > 0) {
    kill(-group, SIGKILL);
  }
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Pipe {
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "pipe to a program");
    }
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_end(std::size_t end) {
    if (ends[end] >= 0) {
      close(ends[end]);
      ends[end] = -1;
    }
  }
  std::array<int, 2> ends{-1, -1};
};

// Between fork and exec: nothing that may take a lock. Writes errno to `failure` where it fails.
[[noreturn]] void become(char* const* argv, char* const* environment, const char* folder, int out,
                         int err, int failure, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(127);
  }
  const int in = open("/dev/null", O_RDONLY);
  dup2(in, 0);
  dup2(out, 1);
  dup2(err, 2);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  if (*folder == '\0' || chdir(folder) == 0) {
    execve(argv[0], argv, environment);
  }
  const int error = errno;
  [[maybe_unused]] const auto written = write(failure, &error, sizeof error);
  _exit(127);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) {
    result.push_back(text.data());
  }
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_with(const std::vector<std::string>& added) {
  std::vector<std::string> result = added;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto name = text.substr(0, text.find('=') + 1);
    if (std::none_of(added.begin(), added.end(),
                     [&](const std::string& other) { return other.starts_with(name); })) {
      result.emplace_back(text);
    }
  }
  return result;
}

class Running {
 public:
  Running(std::vector<std::string> argv, const ProgramOptions& options) : options_(options) {
    const std::string name = argv.at(0);
    const auto found = find_program(name, options.folder);
    if (!found) {
      throw std::runtime_error(
          fmt::format("{}: there is no such program here", printable_text(name)));
    }
    argv[0] = *found;
    auto environment = environment_with(options.environment);
    const auto arguments = pointers(argv);
    const auto variables = pointers(environment);
    Pipe failure;
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ < 0) {
      throw std::system_error(errno, std::generic_category(), "starting " + printable_text(name));
    }
    if (pid_ == 0) {
      become(arguments.data(), variables.data(), options.folder.c_str(), out_.ends[1], err_.ends[1],
             failure.ends[1], parent);
    }
    setpgid(pid_, pid_);  // here too: whoever comes first
    running_group = pid_;
    out_.close_end(1);
    err_.close_end(1);
    failure.close_end(1);
    int error = 0;
    if (read(failure.ends[0], &error, sizeof error) == sizeof error) {
      waitpid(pid_, nullptr, 0);
      running_group = 0;
      throw std::runtime_error(
          fmt::format("{} cannot be started{}: {}", printable_text(name),
                      options.folder.empty() ? "" : " in " + printable_text(options.folder),
                      std::strerror(error)));
    }
    for (const int end : {out_.ends[0], err_.ends[0]}) {
      fcntl(end, F_SETFL, O_NONBLOCK);
    }
  }

  // What it started goes with it: nothing of it may run beside the next measurement.
  ~Running() {
    kill(-pid_, SIGKILL);
    running_group = 0;
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  ProgramEnd wait() {
    while (!reaped_) {
      std::array<pollfd, 2> ends{pollfd{out_.ends[0], POLLIN, 0}, pollfd{err_.ends[0], POLLIN, 0}};
      poll(ends.data(), ends.size(), kTick_ms);
      read_all();
      reap();
      end_when_late();
    }
    read_all();
    if (options_.on_line && !line_.empty()) {
      options_.on_line(line_);
    }
    return std::move(end_);
  }

 private:
  void read_all() {
    read_from(out_, [this](std::string_view text) { take_output(text); });
    read_from(err_, [this](std::string_view text) {
      end_.errors += text;
      if (end_.errors.size() > kErrorBytes) {
        end_.errors.erase(0, end_.errors.size() - kErrorBytes);
      }
    });
  }

  template <typename Take>
  static void read_from(Pipe& pipe, Take take) {
    std::array<char, 65536> buffer;
    // Not without end: a program that never pauses has a time limit too.
    for (int turn = 0; turn < kReadsAtOnce && pipe.ends[0] >= 0; ++turn) {
      const ssize_t count = read(pipe.ends[0], buffer.data(), buffer.size());
      if (count > 0) {
        take(std::string_view(buffer.data(), static_cast<std::size_t>(count)));
      } else if (count == 0) {
        pipe.close_end(0);
      } else if (errno != EINTR) {
        return;
      }
    }
  }

  void take_output(std::string_view text) {
    if (!options_.on_line) {
      end_.output +=
          text.substr(0, options_.kept_bytes - std::min(options_.kept_bytes, end_.output.size()));
      return;
    }
    for (const char c : text) {
      if (c == '\n') {
        options_.on_line(line_);
        line_.clear();
      } else if (line_.size() < kLongestLine) {
        line_ += c;
      }
    }
  }

  void reap() {
    int status = 0;
    rusage used{};
    if (wait4(pid_, &status, WNOHANG, &used) != pid_) {
      return;
    }
    reaped_ = true;
    end_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    end_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end_.wall_s = seconds_since(start_);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    end_.cpu_s = seconds(used.ru_utime) + seconds(used.ru_stime);
  }

  void end_when_late() {
    const double late_s = seconds_since(start_) - options_.limit_s;
    if (reaped_ || late_s < 0) {
      return;
    }
    kill(-pid_, late_s < kTermGrace_s ? SIGTERM : SIGKILL);
    end_.timed_out = true;
    end_.wall_s = seconds_since(start_);
    if (late_s > 2 * kTermGrace_s) {
      reaped_ = true;  // the kernel holds it: it dies when that lets go, or with this process
    }
  }

  const ProgramOptions& options_;
  Pipe out_;
  Pipe err_;
  pid_t pid_ = -1;
  Clock::time_point start_ = Clock::now();
  bool reaped_ = false;
  std::string line_;
  ProgramEnd end_;
};

}  // namespace

std::string ProgramEnd::how() const {
  if (timed_out) {
    return fmt::format("did not end within {:.3g} s", wall_s);
  }
  const auto lines = split(trimmed(errors), '\n');
  const auto last = printable_text(trimmed(lines.back()));
  const auto how = signal != 0 ? fmt::format("ended by signal {} ({})", signal, strsignal(signal))
                               : fmt::format("exited with code {}", exit_code);
  return last.empty() ? how : how + ": " + last;
}

std::optional<std::string> find_program(const std::string& name, const std::string& folder) {
  if (name.find('/') != std::string::npos) {
    const auto path = name.starts_with('/') || folder.empty() ? name : folder + "/" + name;
    return access(path.c_str(), X_OK) == 0 ? std::optional(path) : std::nullopt;
  }
  const char* path = std::getenv("PATH");
  for (const auto place : split(path != nullptr ? path : "/usr/bin:/bin", ':')) {
    const auto candidate = fmt::format("{}/{}", place.empty() ? "." : place, name);
    if (!name.empty() && access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return std::nullopt;
}

void end_program_on_sigterm() { signal(SIGTERM, end_program_and_self); }

ProgramEnd run_program(const std::vector<std::string>& argv, const ProgramOptions& options) {
  return Running(argv, options).wait();
}

}  // namespace fleetbench
