#include "probes/gpu/gpus_of_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "probes/probe.hpp"
#include "probes/support/pci_facts.hpp"

namespace fleetbench::gpu {
namespace {

constexpr const char* kVisibleDevices = "CUDA_VISIBLE_DEVICES";

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::string launch_lines(std::size_t gpus) {
  return fmt::format(
      "start one rank on each node and let it have all its GPUs: `mpirun --map-by ppr:1:node …` "
      "without {0}, or `srun --ntasks-per-node=1 --gpus-per-node={1} --gpu-bind=none …` instead of "
      "--gpus-per-task",
      kVisibleDevices, gpus);
}

}  // namespace

std::vector<std::string> nvidia_gpus_on_pci(const HostFiles& files) {
  std::vector<std::string> addresses;
  for (const Json& gpu : gpus_among(pci_facts(files).entries)) {
    if (gpu.value("vendor", "") == kNvidiaVendor) {
      addresses.push_back(gpu.at("address").get<std::string>());
    }
  }
  return addresses;
}

std::optional<std::string> why_not_together(const NodeGpus& gpus) {
  if (gpus.seen >= gpus.wanted && gpus.seen >= 2) {
    return std::nullopt;
  }
  const std::size_t all = std::max(gpus.wanted, gpus.on_pci);
  if (all < 2) {
    return "there is one GPU: it takes two to copy between them";
  }
  const std::string by =
      gpus.visible ? fmt::format(" ({}={})", kVisibleDevices, *gpus.visible) : "";
  return fmt::format(
      "CUDA shows this process {} of the {} GPUs of the node{}, and it takes all of them in one "
      "process: the launcher hides the others, or they have failed (see `nvidia-smi`); {}",
      gpus.seen, all, by, launch_lines(all));
}

std::vector<GpuInfo> gpus_of_node(const Json& work, const HostFiles& files) {
  const std::vector<GpuInfo> visible = visible_gpus();
  std::vector<GpuInfo> seen;
  const Json named = work.value("gpus", Json::array());
  for (const Json& gpu : named) {
    const auto found =
        std::ranges::find(visible, gpu.at("uuid").get<std::string>(), &GpuInfo::uuid);
    if (found != visible.end()) {
      seen.push_back(*found);
    }
  }
  seen = named.empty() ? visible : seen;
  const auto why = why_not_together({.seen = seen.size(),
                                     .wanted = named.empty() ? visible.size() : named.size(),
                                     .on_pci = nvidia_gpus_on_pci(files).size(),
                                     .visible = environment(kVisibleDevices)});
  if (why) {
    throw NotAvailable(*why);
  }
  return seen;
}

}  // namespace fleetbench::gpu
