// All facts about a node, gathered from /sys, /proc and /etc.
#pragma once

#include "probes/support/fact.hpp"
#include "probes/support/host_files.hpp"

namespace fleetbench {

// {"hostname", "os", "machine", "kernel", "cpu", "memory", "numa", "nics", "infiniband_ports",
// "disks", "mounts", "pci", "gpus", "limits", "left_off"}; see the readers' headers (*_facts.hpp)
// for what each holds. Every key is there; null means that the machine does not say. `left_off`
// tells how many nics, disks, mounts and pci devices were beyond the limits. No environment
// variables, no command lines: they hold secrets. Valid UTF-8 throughout. Does not throw but for
// lack of memory; hangs where the kernel does.
Json node_inventory(const HostFiles& files);

}  // namespace fleetbench
