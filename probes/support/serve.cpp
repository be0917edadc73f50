#include "probes/support/serve.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iostream>

#include "probes/support/probe_server.hpp"

namespace fleetbench {
namespace {

// Keeps the pipe to the rank for answers alone: what a library prints goes to standard error.
int take_over_stdout() {
  const int answers = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return answers;
}

bool write_line(int descriptor, std::string line) {
  line += '\n';
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t written = write(descriptor, line.data() + done, line.size() - done);
    if (written < 0 && errno != EINTR) {
      return false;
    }
    done += written > 0 ? static_cast<std::size_t>(written) : 0;
  }
  return true;
}

}  // namespace

int serve(const std::vector<std::unique_ptr<Probe>>& probes,
          const std::function<bool()>& is_spent) {
  const int answers = take_over_stdout();
  ProbeServer server(probes);
  std::string line;
  while (std::getline(std::cin, line)) {
    Json reply = server.answer(line);
    const auto& status = reply.at("status");
    const bool has_failed =
        status == to_string(Status::failed) || status == to_string(Status::timeout);
    const bool spent = has_failed && is_spent();
    if (spent) {
      reply["spent"] = true;
    }
    if (!write_line(answers, reply.dump(-1, ' ', false, Json::error_handler_t::replace))) {
      return 1;
    }
    if (spent) {
      return 0;
    }
  }
  return 0;
}

void bind_to_parent(int parent) {
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(1);
  }
  // May be forbidden; then the worker is a candidate like any other.
  std::ofstream("/proc/self/oom_score_adj") << 1000;
}

}  // namespace fleetbench
