#include "probes/support/node_inventory.hpp"

#include "probes/support/cgroup_limits.hpp"
#include "probes/support/cpu_facts.hpp"
#include "probes/support/disk_facts.hpp"
#include "probes/support/memory_facts.hpp"
#include "probes/support/mount_facts.hpp"
#include "probes/support/network_facts.hpp"
#include "probes/support/pci_facts.hpp"
#include "probes/support/printable.hpp"
#include "probes/support/system_facts.hpp"

namespace fleetbench {

namespace {

FactList mounts_of(const HostFiles& files) {
  const auto mountinfo = files.read_text("/proc/self/mountinfo");
  return mountinfo ? mount_facts(*mountinfo) : FactList();
}

void add_lists(Json& inventory, const HostFiles& files) {
  Json left_off = Json::object();
  const auto add = [&](const char* name, FactList list) {
    inventory[name] = std::move(list.entries);
    left_off[name] = list.left_off;
  };
  add("nics", nic_facts(files));
  add("disks", disk_facts(files));
  add("mounts", mounts_of(files));
  add("pci", pci_facts(files));
  inventory["left_off"] = std::move(left_off);
}

}  // namespace

Json node_inventory(const HostFiles& files) {
  const CgroupLimits limits = cgroup_limits(files);
  Json inventory = {{"hostname", fact(files.read_line("/proc/sys/kernel/hostname"))},
                    {"os", fact(os_name(files))},
                    {"machine", machine_facts(files)},
                    {"kernel", kernel_facts(files)},
                    {"cpu", cpu_facts(files, limits.cpu_quota_cores)},
                    {"memory", memory_facts(files, limits.memory_bytes)},
                    {"numa", numa_facts(files)},
                    {"infiniband_ports", infiniband_facts(files)},
                    {"limits", limit_facts(files)}};
  add_lists(inventory, files);
  inventory["gpus"] = gpus_among(inventory["pci"]);
  return printable(inventory);
}

}  // namespace fleetbench
