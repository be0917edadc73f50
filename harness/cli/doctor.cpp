// `fleetbench doctor`: what can be measured here, what cannot and why, and how to launch.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "harness/cli/allocation.hpp"
#include "harness/cli/catalog.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/options.hpp"
#include "harness/fleet/job.hpp"
#include "harness/record/run_directory.hpp"
#include "harness/report/escape.hpp"
#include "probes/support/launch_warnings.hpp"
#include "results-schema/check.hpp"
#include "results-schema/version.hpp"

namespace fleetbench::cli {
namespace {

constexpr double kInventory_s = 30;

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

std::optional<std::string> file_text(const std::string& path) {
  try {
    return record::read_whole(path);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

bool on_path(const std::string& program) {
  std::string rest = variable("PATH").value_or("");
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    const auto folder = rest.substr(0, colon);
    if (!folder.empty() && access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) {
      return true;
    }
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return false;
}

void say(bool good, const std::string& text) {
  fmt::print("  {} {}\n", good ? "ok " : "NO ", report::escaped(text));
}

// The facts of this machine, as the worker sees them; null where it cannot say.
Json inventory(worker::Worker& worker) {
  const Json prepare{{"cmd", "prepare"},
                     {"probe", "inventory"},
                     {"params", Json::object()},
                     {"work", Json::object()}};
  if (worker.ask(prepare, kInventory_s).status != Status::ok) {
    return nullptr;
  }
  const auto reply = worker.ask({{"cmd", "measure"}}, kInventory_s);
  return reply.status == Status::ok ? reply.body.value("detail", Json()) : Json();
}

void say_probe(const ProbeInfo& probe) {
  std::string missing;
  for (const auto& program : probe.programs) {
    if (!on_path(program.c_str())) {
      missing += fmt::format("; not without {0}: install it (Debian: {0})", program);
    }
  }
  say(missing.empty(), fmt::format("{:<16} {}{}", probe.name, probe.summary, missing));
}

// What CUDA says of the GPUs here, where there is a worker that could ask it.
Json gpu_inventory() {
  auto worker = local_gpu_worker("");
  const Json prepare{{"cmd", "prepare"},
                     {"probe", "gpu_inventory"},
                     {"params", Json::object()},
                     {"work", Json::object()}};
  if (worker.ask(prepare, kInventory_s).status != Status::ok) {
    return Json::object();
  }
  return worker.ask({{"cmd", "measure"}}, kInventory_s).body.value("detail", Json::object());
}

void check_gpus(const Json& facts, const std::string& why_no_gpus) {
  const Json on_pci = facts.is_object() ? facts.value("gpus", Json::array()) : Json::array();
  if (!why_no_gpus.empty()) {
    say(on_pci.empty(), fmt::format("GPUs are not measured: {}", why_no_gpus));
    return;
  }
  const Json cuda = gpu_inventory();
  const Json gpus = cuda.value("gpus", Json::array());
  for (const Json& gpu : gpus) {
    say(true, fmt::format("GPU {} {}", gpu.value("address", ""), gpu.value("model", "")));
  }
  if (gpus.size() < on_pci.size()) {
    say(false, fmt::format("{} of {} GPUs in the PCI tree are not shown by CUDA: {}",
                           on_pci.size() - gpus.size(), on_pci.size(),
                           cuda.value("reason", "see CUDA_VISIBLE_DEVICES and `nvidia-smi`")));
  }
}

bool check_probes() {
  fmt::print("Probes\n");
  auto worker = local_worker();
  std::string why_no_gpus;
  try {
    const Catalog catalog(worker);
    for (const auto& probe : catalog.probes()) {
      say_probe(probe.info);
    }
    why_no_gpus = catalog.why_absent("gpu_gemm").value_or("");
  } catch (const std::exception& error) {
    say(false, error.what());
    say(false, "install fleetbench-worker beside fleetbench; without it no node can be measured");
    return false;
  }
  const Json facts = inventory(worker);
  check_gpus(facts, why_no_gpus);
  fmt::print("This machine\n");
  const auto warnings = launch_warnings(facts);
  for (const auto& warning : warnings) {
    say(false, warning);
  }
  if (warnings.empty()) {
    say(true, "no CPU, memory or file limit stands in the way");
  }
  return true;
}

bool check_launcher(const Allocation& allocation) {
  fmt::print("MPI\n");
  say(true, fleet::mpi_library());
  const char* launcher = allocation.kind == AllocationKind::slurm ? "srun" : "mpirun";
  const bool found = on_path(launcher);
  say(found, found ? fmt::format("{} is on the PATH", launcher)
                   : fmt::format("{} is not on the PATH: install it ({})", launcher,
                                 allocation.kind == AllocationKind::slurm ? "Debian: slurm-client"
                                                                          : "Debian: openmpi-bin"));
  return found;
}

Usage usage() {
  return {.program = "fleetbench doctor",
          .summary =
              "Says what this machine can measure, what not, what to install, and how to launch in "
              "the allocation that it finds.\n"
              "Exit codes: 0 all is well, 2 something is missing.",
          .synopsis = "[--hostfile FILE]",
          .options = {{"hostfile", "the hosts to measure, as for mpirun", "FILE"}},
          .epilogue = ""};
}

}  // namespace

int doctor_command(const Invocation& invocation) {
  const auto arguments = parse(usage(), invocation.arguments);
  if (arguments.has("help")) {
    fmt::print("{}", help(usage()));
    return kOk;
  }
  const auto hostfile = arguments.text("hostfile");
  const Allocation allocation = find_allocation(hostfile, variable, file_text);
  fmt::print("fleetbench {} ({})\n", kVersion, kBuild);
  const bool launcher = check_launcher(allocation);
  const bool probes = check_probes();
  const auto line = launch_line(allocation, geteuid() == 0,
                                static_cast<int>(std::thread::hardware_concurrency()));
  fmt::print("Launch ({}, {} node{})\n    {}\n", report::escaped(allocation.source),
             allocation.nodes, allocation.nodes == 1 ? "" : "s", report::escaped(line));
  if (allocation.kind == AllocationKind::single_host) {
    fmt::print(
        "    One machine has no peers: as nodes, ranks are compared only with each other. To "
        "measure\n    a fleet run this inside a Slurm job, or give --hostfile FILE.\n");
  }
  return launcher && probes ? kOk : kFailVerdict;
}

}  // namespace fleetbench::cli
