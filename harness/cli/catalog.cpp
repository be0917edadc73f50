#include "harness/cli/catalog.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "harness/fleet/job.hpp"
#include "results-schema/check.hpp"
#include "results-schema/version.hpp"

namespace fleetbench::cli {
namespace {

constexpr double kAnswer_s = 30;
constexpr const char* kWorkerName = "fleetbench-worker";
constexpr const char* kGpuWorkerName = "fleetbench-gpu-worker";
// Known by name also where there is no worker that has them.
constexpr std::array<const char*, 6> kGpuProbes{"gpu_gemm",      "gpu_memory",       "gpu_copy",
                                                "gpu_peer_copy", "nccl_collectives", "nccl_pairs"};
// Of a GPU worker that lacks one of these.
constexpr const char* kWithoutNccl =
    "this installation's fleetbench-gpu-worker was built without NCCL: build it where nccl.h is "
    "(libnccl-dev)";

}  // namespace

worker::Worker local_worker() {
  return worker::Worker(
      {worker::path_beside_this_executable(kWorkerName), "--serve", std::to_string(getpid())});
}

worker::Worker local_gpu_worker(const std::string& uuid) {
  std::vector<std::string> command{worker::path_beside_this_executable(kGpuWorkerName), "--serve",
                                   std::to_string(getpid())};
  if (!uuid.empty()) {
    command.push_back(uuid);
  }
  return worker::Worker(std::move(command));
}

Catalog::Catalog(worker::Worker& worker) : worker_(worker) {
  add_probes_of(worker_, worker::path_beside_this_executable(kWorkerName), plan::Runner::worker);
  look_for_gpu_worker();
  for (auto& info : fleet::probes_over_mpi()) {
    probes_.push_back({std::move(info), plan::Runner::rank});
  }
}

void Catalog::look_for_gpu_worker() {
  const auto path = worker::path_beside_this_executable(kGpuWorkerName);
  if (access(path.c_str(), X_OK) != 0) {
    why_no_gpu_worker_ =
        "this installation has no fleetbench-gpu-worker: it was built without a CUDA toolkit";
    return;
  }
  gpu_worker_ = std::make_unique<worker::Worker>(local_gpu_worker(""));
  try {
    add_probes_of(*gpu_worker_, path, plan::Runner::gpu_workers);
  } catch (const std::runtime_error& error) {
    probes_.erase(std::ranges::find(probes_, plan::Runner::gpu_workers, &plan::ProbeChoice::runner),
                  probes_.end());
    gpu_worker_.reset();
    why_no_gpu_worker_ = error.what();
  }
}

std::optional<std::string> Catalog::why_absent(const std::string& name) const {
  if (std::ranges::find(kGpuProbes, name) == kGpuProbes.end() || find(name) != nullptr) {
    return std::nullopt;
  }
  return gpu_worker_ ? kWithoutNccl : why_no_gpu_worker_;
}

void Catalog::add_probes_of(worker::Worker& worker, const std::string& path, plan::Runner runner) {
  const Json command{{"cmd", "catalog"}};
  const Json answer = checked(worker.ask(command, kAnswer_s), command);
  const auto build = answer.value("version", "?") + " " + answer.value("build", "?");
  const auto ours = fmt::format("{} {}", kVersion, kBuild);
  if (build != ours) {
    throw std::runtime_error(
        fmt::format("{} is of another build ({}) than fleetbench ({}): install both together", path,
                    build, ours));
  }
  for (const auto& info : answer.at("probes")) {
    const plan::ProbeChoice choice{info.get<ProbeInfo>(), runner};
    // What GPUs there are is asked before there are steps.
    if (runner == plan::Runner::worker || !choice.info.facts_only) {
      probes_.push_back(choice);
    }
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
  if (probe.runner == plan::Runner::rank) {
    return fleet::metrics_over_mpi(probe.info.name, params);
  }
  const Json command{{"cmd", "metrics"}, {"probe", probe.info.name}, {"params", params}};
  auto& worker = probe.runner == plan::Runner::gpu_workers ? *gpu_worker_ : worker_;
  auto reply = worker.ask(command, kAnswer_s);
  if (reply.status == Status::failed && worker.running()) {
    throw InputError(reply.reason);  // it lives and says what is wrong with the parameters
  }
  return checked(std::move(reply), command).at("metrics").get<std::vector<MetricInfo>>();
}

Json Catalog::calibrate(const plan::ProbeChoice& probe, const Json& params, double limit_s,
                        const std::function<void()>& meanwhile) {
  if (probe.runner != plan::Runner::worker) {
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
