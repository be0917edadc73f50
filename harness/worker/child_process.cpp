#include "harness/worker/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <mutex>
#include <string_view>
#include <system_error>
#include <utility>

namespace fleetbench::worker {
namespace {

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe for a worker");
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

void do_not_block(const Descriptor& descriptor) {
  fcntl(descriptor.get(), F_SETFL, fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
}

// Children inherit the affinity of the thread that starts them; launchers bind ranks to cores.
class AllCpus {
 public:
  AllCpus() : saved_(sched_getaffinity(0, sizeof before_, &before_) == 0) {
    cpu_set_t all;
    std::memset(&all, 0xff, sizeof all);  // the kernel keeps what the cpuset allows
    if (saved_) {
      sched_setaffinity(0, sizeof all, &all);
    }
  }
  ~AllCpus() {
    if (saved_) {
      sched_setaffinity(0, sizeof before_, &before_);
    }
  }
  AllCpus(const AllCpus&) = delete;
  AllCpus& operator=(const AllCpus&) = delete;

 private:
  cpu_set_t before_{};
  bool saved_;
};

class SpawnSettings {
 public:
  SpawnSettings(int input, int output, int errors) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  pid_t spawn(const std::vector<std::string>& argv, const std::vector<std::string>& environment) {
    const auto arguments = pointers(argv);
    const auto variables = pointers(environment);
    pid_t pid = -1;
    const AllCpus all_cpus;
    const int error = posix_spawnp(&pid, argv.front().c_str(), &actions_, &attributes_,
                                   arguments.data(), variables.data());
    if (error != 0) {
      throw std::system_error(error, std::generic_category(), "cannot start " + argv.front());
    }
    return pid;
  }

 private:
  static std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (const auto& text : texts) {
      result.push_back(const_cast<char*>(text.c_str()));
    }
    result.push_back(nullptr);
    return result;
  }

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// Processes that were killed, and that the kernel held for longer than anybody waited.
class Leftovers {
 public:
  void add(pid_t pid) {
    const std::lock_guard lock(mutex_);
    pids_.push_back(pid);
  }
  // Those that have gone since.
  void reap() {
    const std::lock_guard lock(mutex_);
    std::erase_if(pids_, [](pid_t pid) { return waitpid(pid, nullptr, WNOHANG) != 0; });
  }

 private:
  std::mutex mutex_;
  std::vector<pid_t> pids_;
};

Leftovers& leftovers() {
  static Leftovers all;
  return all;
}

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) {
    close(number_);
  }
}

std::string describe(const Exit& exit) {
  if (WIFSIGNALED(exit.status)) {
    const int signal = WTERMSIG(exit.status);
    return fmt::format("ended by signal {} ({}){}", signal, strsignal(signal),
                       signal == SIGKILL ? ", by a person or because memory ran out" : "");
  }
  return fmt::format("exited with code {}", WEXITSTATUS(exit.status));
}

ChildProcess::ChildProcess(const std::vector<std::string>& argv)
    : ChildProcess(argv, environment_without_launcher()) {}

ChildProcess::ChildProcess(const std::vector<std::string>& argv,
                           const std::vector<std::string>& environment) {
  leftovers().reap();
  Pipe input = make_pipe();
  Pipe output = make_pipe();
  Pipe errors = make_pipe();
  SpawnSettings settings(input.read.get(), output.write.get(), errors.write.get());
  pid_ = settings.spawn(argv, environment);
  input_ = std::move(input.write);
  output_ = std::move(output.read);
  errors_ = std::move(errors.read);
  do_not_block(input_);
  do_not_block(output_);
  do_not_block(errors_);
}

ChildProcess::~ChildProcess() {
  if (!reap()) {
    signal_group(SIGKILL);
    // A killed process is gone in moments unless the kernel holds it, as for what it had of a GPU.
    for (int i = 0; i < 50 && !reap(); ++i) {
      usleep(1000);
    }
    if (!exit_) {
      leftovers().add(pid_);
    }
  }
}

void ChildProcess::signal_group(int signal) const {
  if (!exit_) {
    kill(-pid_, signal);
  }
}

std::optional<Exit> ChildProcess::reap() {
  if (!exit_) {
    Exit exit;
    if (wait4(pid_, &exit.status, WNOHANG, &exit.resources) == pid_) {
      // What it started and left behind goes with it.
      kill(-pid_, SIGKILL);
      exit_ = exit;
    }
  }
  return exit_;
}

std::vector<std::string> environment_without_launcher() {
  std::vector<std::string> result;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const bool launcher = text.starts_with("OMPI_") || text.starts_with("PMIX_") ||
                          text.starts_with("PMI_") || text.starts_with("PRTE_");
    if (!launcher) {
      result.emplace_back(text);
    }
  }
  return result;
}

}  // namespace fleetbench::worker
