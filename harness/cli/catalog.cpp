#include "harness/cli/catalog.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <stdexcept>

#include "harness/fleet/job.hpp"
#include "results-schema/check.hpp"
#include "results-schema/version.hpp"

namespace fleetbench::cli {
namespace {

constexpr double kAnswer_s = 30;
constexpr const char* kWorkerName = "fleetbench-worker";

}  // namespace

worker::Worker local_worker() {
  return worker::Worker(
      {worker::path_beside_this_executable(kWorkerName), "--serve", std::to_string(getpid())});
}

Catalog::Catalog(worker::Worker& worker) : worker_(worker) {
  const Json command{{"cmd", "catalog"}};
  const Json answer = checked(worker_.ask(command, kAnswer_s), command);
  const auto build = answer.value("version", "?") + " " + answer.value("build", "?");
  const auto ours = fmt::format("{} {}", kVersion, kBuild);
  if (build != ours) {
    throw std::runtime_error(
        fmt::format("{} is of another build ({}) than fleetbench ({}): install both together",
                    worker::path_beside_this_executable(kWorkerName), build, ours));
  }
  for (const auto& info : answer.at("probes")) {
    probes_.push_back({info.get<ProbeInfo>(), false});
  }
  for (auto& info : fleet::probes_over_mpi()) {
    probes_.push_back({std::move(info), true});
  }
}

const plan::ProbeChoice* Catalog::find(const std::string& name) const {
  for (const auto& probe : probes_) {
    if (probe.info.name == name) {
      return &probe;
    }
  }
  return nullptr;
}

std::vector<MetricInfo> Catalog::metrics(const plan::ProbeChoice& probe, const Json& params) {
  if (probe.over_mpi) {
    return fleet::metrics_over_mpi(probe.info.name, params);
  }
  const Json command{{"cmd", "metrics"}, {"probe", probe.info.name}, {"params", params}};
  auto reply = worker_.ask(command, kAnswer_s);
  if (reply.status == Status::failed && worker_.running()) {
    throw InputError(reply.reason);  // it lives and says what is wrong with the parameters
  }
  return checked(std::move(reply), command).at("metrics").get<std::vector<MetricInfo>>();
}

Json Catalog::calibrate(const plan::ProbeChoice& probe, const Json& params, double limit_s,
                        const std::function<void()>& meanwhile) {
  if (probe.over_mpi) {
    return Json::object();
  }
  const Json command{{"cmd", "calibrate"}, {"probe", probe.info.name}, {"params", params}};
  return checked(worker_.ask(command, limit_s, meanwhile), command).at("work");
}

Json Catalog::checked(worker::Reply reply, const Json& command) {
  if (reply.status != Status::ok) {
    throw std::runtime_error(
        fmt::format("fleetbench-worker ({}): {}", command.value("cmd", ""), reply.reason));
  }
  return std::move(reply.body);
}

}  // namespace fleetbench::cli
