#include "tests/gpu_sim/model/visible_devices.hpp"

#include <algorithm>
#include <charconv>

#include "tests/gpu_sim/model/setting_text.hpp"

namespace gpu_sim {

namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') {
    text.remove_prefix(1);
  }
  while (!text.empty() && text.back() == ' ') {
    text.remove_suffix(1);
  }
  return text;
}

// Null where it names none, or more than one.
Device* named(const std::vector<Device*>& usable, std::string_view entry) {
  if (!entry.starts_with("GPU-")) {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), index);
    const bool number = error == std::errc{} && end == entry.data() + entry.size();
    return number && index < usable.size() ? usable[index] : nullptr;
  }
  Device* found = nullptr;
  for (Device* device : usable) {
    if (device->uuid_text().starts_with(entry)) {
      if (found != nullptr) {
        return nullptr;
      }
      found = device;
    }
  }
  return found;
}

}  // namespace

std::vector<Device*> visible_devices(const std::vector<Device*>& usable,
                                     const std::optional<std::string>& visible) {
  if (!visible) {
    return usable;
  }
  std::vector<Device*> devices;
  for (const std::string_view entry : parts_of(*visible, ',')) {
    Device* device = named(usable, trimmed(entry));
    if (device == nullptr) {
      break;
    }
    if (std::find(devices.begin(), devices.end(), device) != devices.end()) {
      return {};
    }
    devices.push_back(device);
  }
  return devices;
}

}  // namespace gpu_sim
