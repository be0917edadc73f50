#include "probes/support/allowed_gpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "probes/support/pci_facts.hpp"
#include "probes/support/text_fields.hpp"

namespace fleetbench {
namespace {

constexpr std::size_t kLongest = 80;

struct Limit {
  std::size_t gpus = 0;
  std::string by;
};

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

Limit named_in(std::string_view visible_devices) {
  std::size_t count = 0;
  for (const auto part : split(visible_devices, ',')) {
    const auto entry = trimmed(part);
    if (!is_number(entry) && !entry.starts_with("GPU-") && !entry.starts_with("MIG-")) {
      break;
    }
    ++count;
  }
  return {count, fmt::format("CUDA_VISIBLE_DEVICES={}{}", visible_devices.substr(0, kLongest),
                             visible_devices.size() > kLongest ? "…" : "")};
}

// NVIDIA's, by the driver that is bound to them.
struct Drivers {
  std::size_t nvidia = 0;
  std::size_t vfio = 0;
  std::size_t all = 0;
};

Drivers drivers_of(const HostFiles& files) {
  Drivers drivers;
  const Json entries = pci_facts(files).entries;
  for (const Json& gpu : gpus_among(entries)) {
    const auto entry = std::ranges::find_if(
        entries, [&](const Json& device) { return device.at("address") == gpu.at("address"); });
    if (gpu.value("vendor", "") == kNvidiaVendor) {
      const auto driver = entry->value("driver", "");
      ++drivers.all;
      drivers.nvidia += driver == "nvidia" ? 1 : 0;
      drivers.vfio += driver == "vfio-pci" ? 1 : 0;
    }
  }
  return drivers;
}

using IsUsable = std::function<bool(const std::string& path)>;

std::optional<Limit> device_files(const HostFiles& files, const IsUsable& is_usable,
                                  std::size_t bound) {
  constexpr std::string_view kPrefix = "nvidia";
  std::size_t there = 0;
  std::size_t usable = 0;
  for (const std::string& name : files.list("/dev").value_or(std::vector<std::string>())) {
    if (name.starts_with(kPrefix) && is_number(std::string_view(name).substr(kPrefix.size()))) {
      ++there;
      usable += is_usable("/dev/" + name) ? 1 : 0;
    }
  }
  if (there == 0 || usable >= bound) {
    return std::nullopt;
  }
  return Limit{usable, fmt::format("{} of {} GPUs have a file /dev/nvidia* that can be opened here",
                                   usable, bound)};
}

}  // namespace

Json allowed_gpus(const HostFiles& files, const char* visible_devices, const IsUsable& is_usable) {
  const Drivers drivers = drivers_of(files);
  std::optional<Limit> limit = device_files(files, is_usable, drivers.nvidia);
  if (!limit && drivers.vfio > 0) {
    limit = Limit{drivers.all - drivers.vfio,
                  fmt::format("vfio-pci drives {} of {}", drivers.vfio, drivers.all)};
  }
  if (visible_devices != nullptr) {
    const Limit named = named_in(visible_devices);
    limit = limit && limit->gpus < named.gpus ? limit : named;
  }
  return limit ? Json{{"let_see", limit->gpus}, {"let_see_by", limit->by}} : Json::object();
}

}  // namespace fleetbench
