#include "probes/support/serve.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <new>

#include "probes/support/slot_evidence.hpp"
#include "results-schema/version.hpp"

namespace fleetbench {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

rusage usage_now() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage;
}

Json usage_between(const rusage& before, const rusage& after) {
  return {{"user_s", seconds(after.ru_utime) - seconds(before.ru_utime)},
          {"system_s", seconds(after.ru_stime) - seconds(before.ru_stime)},
          {"max_resident_bytes", after.ru_maxrss * 1024},
          {"voluntary_switches", after.ru_nvcsw - before.ru_nvcsw},
          {"involuntary_switches", after.ru_nivcsw - before.ru_nivcsw},
          {"major_faults", after.ru_majflt - before.ru_majflt}};
}

class Server {
 public:
  explicit Server(const std::vector<std::unique_ptr<Probe>>& probes) : probes_(probes) {}

  Json answer(const std::string& line) {
    try {
      Json reply = carry_out(Json::parse(line));
      reply["status"] = to_string(Status::ok);
      return reply;
    } catch (const WrongResult& error) {
      return refusal(Status::wrong, error.what());
    } catch (const NotAvailable& error) {
      return refusal(Status::skipped, error.what());
    } catch (const TimedOut& error) {
      return refusal(Status::timeout, error.what());
    } catch (const std::bad_alloc&) {
      return refusal(Status::failed, "not enough memory");
    } catch (const std::exception& error) {
      return refusal(Status::failed, error.what());
    }
  }

 private:
  static Json refusal(Status status, const char* reason) {
    return {{"status", to_string(status)}, {"reason", reason}};
  }

  const Probe& probe_of(const Json& command) const {
    const auto name = command.at("probe").get<std::string>();
    for (const auto& probe : probes_) {
      if (probe->info().name == name) {
        return *probe;
      }
    }
    throw NotAvailable("this worker has no probe \"" + name + "\"");
  }

  // A node with an old worker would measure something else and look slow.
  static void check_build(const Json& command) {
    const auto ours = std::string(kVersion) + " " + kBuild;
    const auto theirs = command.value("build", ours);
    if (theirs != ours) {
      throw std::runtime_error("this node's worker is of another build (" + ours +
                               ") than fleetbench (" + theirs + "): install both together");
    }
  }

  Json carry_out(const Json& command) {
    const auto name = command.at("cmd").get<std::string>();
    if (name == "catalog") {
      return catalog();
    }
    if (name == "metrics") {
      return {{"metrics", probe_of(command).metrics(command.at("params"))}};
    }
    if (name == "calibrate") {
      return {{"work", probe_of(command).calibrate(command.at("params"))}};
    }
    if (name == "prepare") {
      prepared_.reset();
      check_build(command);
      prepared_ = probe_of(command).prepare(command.at("params"), command.at("work"));
      return Json::object();
    }
    if (name == "measure") {
      return measure(command.value("network", true));
    }
    if (name == "release") {
      prepared_.reset();
      return Json::object();
    }
    throw std::runtime_error("unknown command \"" + name + "\"");
  }

  Json catalog() const {
    Json infos = Json::array();
    for (const auto& probe : probes_) {
      infos.push_back(probe->info());
    }
    return {{"version", kVersion}, {"build", kBuild}, {"probes", std::move(infos)}};
  }

  Json measure(bool reads_network) {
    if (!prepared_) {
      throw std::runtime_error("nothing is prepared");
    }
    SlotEvidence evidence(reads_network ? Network::read : Network::left_out);
    const rusage before = usage_now();
    const auto start = std::chrono::steady_clock::now();
    Measurement measurement = prepared_->measure();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    measurement.detail["resources"] = usage_between(before, usage_now());
    measurement.detail["evidence"] = evidence.finish();
    check_values(measurement);
    return {{"values", values_to_json(measurement.values)},
            {"detail", std::move(measurement.detail)},
            {"measure_s", took.count()}};
  }

  const std::vector<std::unique_ptr<Probe>>& probes_;
  std::unique_ptr<Prepared> prepared_;
};

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
  Server server(probes);
  std::string line;
  while (std::getline(std::cin, line)) {
    Json reply = server.answer(line);
    const bool spent = reply.at("status") == to_string(Status::failed) && is_spent();
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
