// The rank's side of a worker: one child process that measures, spoken to in JSON lines (see
// probes/support/serve.hpp). Nothing here blocks or throws because of what the worker does: a
// crash, a hang, rubbish on the pipe is a reply with a status and a reason.
#pragma once

#include <poll.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/worker/child_process.hpp"
#include "results-schema/metric.hpp"

namespace fleetbench::worker {

struct Reply {
  Status status = Status::ok;
  std::string reason;  // why it is not ok
  Json body;           // the worker's answer; an object, empty where it gave none
};

// How long a worker has between SIGTERM and SIGKILL, and after that before it is given up as stuck
// in the kernel.
inline constexpr double kTermGrace_s = 1;
inline constexpr double kKillGrace_s = 5;

// One command at a time. The process is started with the first command, and again with the one
// after its death was told or after an answer that says that it can measure no more. The owning
// program ignores SIGPIPE.
class Worker {
 public:
  // `command`: path and arguments.
  explicit Worker(std::vector<std::string> command) : command_(std::move(command)) {}

  // Precondition: not busy. `limit_s` from now; then the worker is ended and the reply is
  // `timeout`. A worker that died since its last answer is a failure of this command; the next one
  // starts another.
  void send(const Json& command, double limit_s);
  bool busy() const { return state_ != State::idle; }
  // There is a process; it may have died since poll() last looked.
  bool running() const { return process_ != nullptr; }
  // The reply, once there is one; then the worker is idle.
  std::optional<Reply> poll();
  // Ends the process; the reply to the command under way will be `timeout` with this reason.
  void cancel(const std::string& reason);
  // Ends the process whatever it does; no reply follows.
  void stop();
  // What it wrote to standard error since the command under way: "; its last words: …", or nothing.
  std::string last_words() const;
  // What to sleep on until poll() may have news.
  std::vector<pollfd> descriptors() const;

  // Sends and waits. `meanwhile` is called some fifty times a second, and may throw to break it
  // off.
  Reply ask(
      const Json& command, double limit_s, const std::function<void()>& meanwhile = [] {});

 private:
  using Clock = std::chrono::steady_clock;
  enum class State { idle, busy, terminating, killing };

  static Clock::time_point after(double seconds);
  void start();
  void forget_words();
  void write_pending();
  void read_all();
  std::optional<Reply> next_answer();
  std::optional<Reply> after_death();
  void begin_end(const std::string& reason);
  std::optional<Reply> continue_end();
  Reply finish(Reply reply);

  std::vector<std::string> command_;
  std::unique_ptr<ChildProcess> process_;
  State state_ = State::idle;
  Clock::time_point deadline_;
  double limit_s_ = 0;
  std::string unsent_;
  std::string received_;
  std::string error_text_;
  std::string end_reason_;
  bool output_closed_ = false;
  bool errors_closed_ = false;
  bool closing_ = false;  // its output is closed, its end has not been seen
};

// Path of an executable that stands beside this one.
std::string path_beside_this_executable(const std::string& name);

}  // namespace fleetbench::worker
