#include "harness/detect/explains.hpp"

#include <algorithm>
#include <string_view>

namespace fleetbench::detect {
namespace {

using Layers = std::vector<Layer>;

Layers of_network() { return {Layer::network, Layer::fabric, Layer::step}; }
Layers of_storage() { return {Layer::storage, Layer::input, Layer::step}; }
Layers of_gpu() { return {Layer::compute, Layer::copy, Layer::fabric, Layer::step}; }
Layers of_host() {
  return {Layer::host, Layer::storage, Layer::input, Layer::copy, Layer::network, Layer::step};
}

// "pci[0000:9b:00.0].current_link_width" → "0000:9b:00.0"
std::string element_in(const std::string& path) {
  const std::size_t begin = path.find('[');
  const std::size_t end = path.find(']');
  return begin == std::string::npos || end == std::string::npos || end < begin
             ? std::string()
             : path.substr(begin + 1, end - begin - 1);
}

bool lists(const Json& entries, const char* key, const std::string& address) {
  return entries.is_array() && std::any_of(entries.begin(), entries.end(), [&](const Json& entry) {
           const auto found = entry.is_object() ? entry.find(key) : entry.end();
           return entry.is_object() && found != entry.end() && *found == address;
         });
}

// A bridge may stand before anything.
Layers of_device(const std::string& address, const Inventory& inventory) {
  if (lists(inventory.part("gpus"), "address", address)) {
    return of_gpu();
  }
  if (lists(inventory.part("nics"), "pci_address", address) ||
      lists(inventory.part("infiniband_ports"), "pci_address", address)) {
    return of_network();
  }
  if (lists(inventory.part("disks"), "pci_address", address)) {
    return of_storage();
  }
  return {Layer::copy,    Layer::compute, Layer::fabric, Layer::network,
          Layer::storage, Layer::input,   Layer::step};
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](auto beginning) { return text.starts_with(beginning); });
}

// Of the drivers that the inventory names.
Layers of_module(std::string_view name) {
  if (starts_with_any(name, {"nvidia_peermem", "gdrdrv"})) {
    return of_network();
  }
  if (starts_with_any(name, {"nvidia", "amdgpu"})) {
    return of_gpu();
  }
  if (starts_with_any(name, {"lustre", "beegfs"})) {
    return of_storage();
  }
  return of_network();
}

}  // namespace

Layers layers_explained_by(const std::string& path, const Inventory& inventory) {
  constexpr std::string_view kModules = "kernel.modules.";
  const std::string root = path.substr(0, path.find_first_of(".["));
  if (path.starts_with(kModules)) {
    return of_module(std::string_view(path).substr(kModules.size()));
  }
  if (root == "nics" || root == "infiniband_ports" || root == "infiniband") {
    return of_network();
  }
  if (root == "disks" || root == "mounts" || root == "probes") {
    return of_storage();
  }
  if (root == "gpus" || root == "cuda") {
    return of_gpu();
  }
  return root == "pci" ? of_device(element_in(path), inventory) : of_host();
}

}  // namespace fleetbench::detect
