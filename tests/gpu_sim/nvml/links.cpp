// PCIe, NVLink, and what lies between devices and the host.
#include <unistd.h>

#include <climits>
#include <cmath>

#include "tests/gpu_sim/model/chip.hpp"
#include "tests/gpu_sim/nvml/call.hpp"

using namespace gpu_sim;
using namespace gpu_sim::nvml;

namespace {

constexpr unsigned long kBitsOfWord = sizeof(unsigned long) * CHAR_BIT;

void clear(unsigned long* set, unsigned words) {
  require_nvml(set != nullptr && words > 0);
  for (unsigned i = 0; i < words; ++i) {
    set[i] = 0;
  }
}

void add(unsigned long* set, unsigned words, unsigned long bit) {
  require_nvml(bit / kBitsOfWord < words, kInsufficientSize);
  set[bit / kBitsOfWord] |= 1UL << (bit % kBitsOfWord);
}

bool is_link(unsigned link) { return link < chip::kNvlinks; }

bool is_up(const Device& device, unsigned link) {
  return link < static_cast<unsigned>(device.nvlinks());
}

// Throws where a link is asked for that there is not.
void require_link(const Model& model, unsigned link) {
  require_nvml(is_link(link));
  require_nvml(model.settings.nvlink != NvLink::none, kNotSupported);
}

const Device* neighbour_of(const Model& model, const Device& device) {
  for (const auto& other : model.devices) {
    if (device.is_neighbour(*other)) {
      return other.get();
    }
  }
  return nullptr;
}

}  // namespace

extern "C" {

NVML_EXPORT nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t handle,
                                                             unsigned* generation) {
  return value_of(handle, generation,
                  [](Device& device) { return device.faults().pcie_generation; });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t handle, unsigned* width) {
  return value_of(handle, width, [](Device& device) { return device.faults().pcie_width; });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t handle,
                                                            unsigned* generation) {
  return value_of(handle, generation, [](Device&) { return chip::kPcieGeneration; });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t handle, unsigned* width) {
  return value_of(handle, width, [](Device&) { return chip::kPcieWidth; });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t handle, int counter,
                                                     unsigned* kilobytes_per_s) {
  return value_of(handle, kilobytes_per_s, [&](Device& device) {
    require_nvml(counter == kPcieTransmit || counter == kPcieReceive);
    return std::lround(device.activity() * 1e6);
  });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetPcieReplayCounter(nvmlDevice_t handle, unsigned* count) {
  return value_of(handle, count, [](Device&) { return 0; });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t handle, unsigned link, int* active) {
  return nvml_call([&](Model& model) {
    require_link(model, link);
    require_nvml(active != nullptr);
    *active = is_up(device_of(model, handle), link) ? 1 : 0;
  });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t handle, unsigned link,
                                                             int* type) {
  return nvml_call([&](Model& model) {
    require_link(model, link);
    require_nvml(type != nullptr);
    require_nvml(is_up(device_of(model, handle), link), kNotSupported);
    *type = model.settings.nvlink == NvLink::switches ? kRemoteSwitch : kRemoteGpu;
  });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t handle, unsigned link,
                                                             nvmlPciInfo_t* info) {
  return nvml_call([&](Model& model) {
    require_link(model, link);
    require_nvml(info != nullptr);
    const Device& device = device_of(model, handle);
    const Device* neighbour = neighbour_of(model, device);
    require_nvml(
        is_up(device, link) && neighbour != nullptr && model.settings.nvlink == NvLink::bridges,
        kNotSupported);
    put_pci(*neighbour, *info);
  });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t handle, unsigned link,
                                                    unsigned* version) {
  return value_of(handle, version, [&](Device&) {
    require_nvml(is_link(link));
    return chip::kNvlinkVersion;
  });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetNvLinkErrorCounter(nvmlDevice_t handle, unsigned link,
                                                         int counter, unsigned long long* count) {
  return value_of(handle, count, [&](Device& device) {
    require_nvml(is_link(link) && counter >= kLinkReplay && counter <= kLastLinkCounter);
    return counter == kLinkReplay ? device.repeated_packets() : 0;
  });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t first,
                                                             nvmlDevice_t second, int* level) {
  return nvml_call([&](Model& model) {
    require_nvml(level != nullptr);
    const Device& a = device_of(model, first);
    const Device& b = device_of(model, second);
    const bool by_pcie = model.settings.nvlink != NvLink::switches;
    *level = &a == &b                         ? kAncestorSelf
             : by_pcie && a.is_neighbour(b)   ? kAncestorSwitch
             : a.numa_node() == b.numa_node() ? kAncestorNode
                                              : kAncestorSystem;
  });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t first, nvmlDevice_t second, int,
                                                int* status) {
  return nvml_call([&](Model& model) {
    require_nvml(status != nullptr);
    const bool none =
        device_of(model, first).faults().no_peers || device_of(model, second).faults().no_peers;
    *status = none ? kP2pNotSupported : 0;
  });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetMemoryAffinity(nvmlDevice_t handle, unsigned words,
                                                     unsigned long* nodes, int) {
  return on_device(handle, [&](Device& device) {
    clear(nodes, words);
    add(nodes, words, static_cast<unsigned long>(device.numa_node()));
  });
}

// The processors are shared out evenly between the simulated NUMA nodes.
NVML_EXPORT nvmlReturn_t nvmlDeviceGetCpuAffinity(nvmlDevice_t handle, unsigned words,
                                                  unsigned long* processors) {
  return nvml_call([&](Model& model) {
    const auto node = static_cast<unsigned long>(device_of(model, handle).numa_node());
    const auto nodes = static_cast<unsigned long>(model.settings.numa_nodes);
    const auto all = static_cast<unsigned long>(sysconf(_SC_NPROCESSORS_CONF));
    clear(processors, words);
    for (unsigned long cpu = node * all / nodes; cpu < (node + 1) * all / nodes; ++cpu) {
      add(processors, words, cpu);
    }
  });
}

}  // extern "C"
