// What Linux says about the PCI devices of a node.
#pragma once

#include <filesystem>
#include <string>

#include "probes/support/fact.hpp"
#include "probes/support/host_files.hpp"

namespace fleetbench {

inline constexpr std::size_t kMaxPciDevices = 4096;
inline constexpr const char* kNvidiaVendor = "0x10de";

// Every device: address, class, vendor, device as /sys writes them ("0x030200"), and what it says
// of driver, numa_node, {current,max}_link_speed_gt_per_s (per lane) and {current,max}_link_width.
// Keys are absent where it says nothing: most devices of a server have no link. An idle GPU lowers
// its current speed to save power, so a low one is a fault only under load; a low width always is.
FactList pci_facts(const HostFiles& files);

// Those entries of pci_facts() that are GPUs of NVIDIA or AMD: address, vendor, device.
Json gpus_among(const Json& pci_entries);

// Address of the PCI device that a device of another kind belongs to (a NIC, a disk, an InfiniBand
// device), given its folder in /sys.
std::optional<std::string> pci_address_of(const HostFiles& files,
                                          const std::filesystem::path& device_folder);

}  // namespace fleetbench
