#include "probes/support/probe_server.hpp"

#include <sys/resource.h>

#include <chrono>
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

// A node with an old worker would measure something else and look slow.
void check_build(const Json& command) {
  const auto ours = std::string(kVersion) + " " + kBuild;
  const auto theirs = command.value("build", ours);
  if (theirs != ours) {
    throw std::runtime_error("this node's worker is of another build (" + ours +
                             ") than fleetbench (" + theirs + "): install both together");
  }
}

Json refusal(const std::exception& error) {
  const bool no_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  Json reply{{"status", to_string(status_of(error))},
             {"reason", no_memory ? "not enough memory" : error.what()}};
  if (Json detail = detail_of(error); !detail.is_null()) {
    reply["detail"] = std::move(detail);
  }
  return reply;
}

}  // namespace

Json ProbeServer::answer(const std::string& line) {
  try {
    Json reply = carry_out(Json::parse(line));
    if (!reply.contains("status")) {
      reply["status"] = to_string(Status::ok);
    }
    return reply;
  } catch (const std::exception& error) {
    return refusal(error);
  }
}

const Probe& ProbeServer::probe_of(const Json& command) const {
  const auto name = command.at("probe").get<std::string>();
  for (const auto& probe : probes_) {
    if (probe->info().name == name) {
      return *probe;
    }
  }
  throw NotAvailable("this worker has no probe \"" + name + "\"");
}

Json ProbeServer::carry_out(const Json& command) {
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
    return prepare(command);
  }
  if (name == "measure") {
    return measure(command);
  }
  if (name == "release") {
    prepared_.reset();
    return Json::object();
  }
  throw std::runtime_error("unknown command \"" + name + "\"");
}

Json ProbeServer::catalog() const {
  Json infos = Json::array();
  for (const auto& probe : probes_) {
    infos.push_back(probe->info());
  }
  return {{"version", kVersion}, {"build", kBuild}, {"probes", std::move(infos)}};
}

Json ProbeServer::prepare(const Json& command) {
  prepared_.reset();
  check_build(command);
  auto prepared = probe_of(command).prepare(command.at("params"), command.at("work"));
  Json reply = Json::object();
  if (std::string invitation = prepared->invitation(); !invitation.empty()) {
    reply["invitation"] = std::move(invitation);
  }
  prepared_ = std::move(prepared);
  return reply;
}

Json ProbeServer::measure(const Json& command) {
  if (!prepared_) {
    throw std::runtime_error("nothing is prepared");
  }
  if (command.contains("invitation")) {
    prepared_->accept(command.at("invitation").get<std::string>());
  }
  SlotEvidence evidence(command.value("network", true) ? Network::read : Network::left_out);
  const rusage before = usage_now();
  const auto start = std::chrono::steady_clock::now();
  Measurement measurement;
  try {
    measurement = prepared_->measure();
    check_values(measurement);
  } catch (const std::exception& error) {
    Json reply = refusal(error);
    reply["detail"]["evidence"] = evidence.finish();  // what was counted meanwhile may be why
    return reply;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  measurement.detail["resources"] = usage_between(before, usage_now());
  measurement.detail["evidence"] = evidence.finish();
  return {{"values", values_to_json(measurement.values)},
          {"detail", std::move(measurement.detail)},
          {"measure_s", took.count()}};
}

}  // namespace fleetbench
