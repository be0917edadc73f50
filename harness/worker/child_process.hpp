// A child process with pipes on its standard streams, owned for its whole life.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace fleetbench::worker {

// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

struct Exit {
  int status = 0;      // as waitpid gives it
  rusage resources{};  // of the whole life of the process
};

// "ended by signal 9 (Killed)", "exited with code 1"
std::string describe(const Exit& exit);

// Starts argv[0] (a path, or a name to be looked for in PATH) by posix_spawn, which shares this
// process's memory until exec. The child
//   - leads a process group of its own, so that it can be ended with all that it started,
//   - may run on every CPU of the cpuset, whatever this process is bound to,
//   - inherits no descriptor but its three streams and none of the launcher's variables (OMPI_*,
//     PMIX_*, PMI_*, PRTE_*), which would make an MPI program of it a member of our job,
//   - starts with default signal handlers and an empty signal mask.
// The parent's ends of the pipes do not block. Destruction ends the group by SIGKILL and does not
// wait for a process that the kernel holds.
class ChildProcess {
 public:
  // Throws std::system_error naming argv[0].
  explicit ChildProcess(const std::vector<std::string>& argv);
  // The same with another environment: "NAME=VALUE".
  ChildProcess(const std::vector<std::string>& argv, const std::vector<std::string>& environment);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  int input() const { return input_.get(); }    // write here
  int output() const { return output_.get(); }  // read here
  int errors() const { return errors_.get(); }  // and here
  void close_input() { input_ = Descriptor(); }

  void signal_group(int signal) const;
  // Never blocks. Empty while the process lives.
  std::optional<Exit> reap();

 private:
  Descriptor input_;
  Descriptor output_;
  Descriptor errors_;
  pid_t pid_ = -1;
  std::optional<Exit> exit_;
};

// The environment of this process without the variables of an MPI launcher, as "NAME=VALUE".
std::vector<std::string> environment_without_launcher();

}  // namespace fleetbench::worker
