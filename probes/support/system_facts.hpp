// What Linux says about the machine as a whole, its kernel, its operating system, and the limits of
// this process.
#pragma once

#include "probes/support/fact.hpp"
#include "probes/support/host_files.hpp"

namespace fleetbench {

// vendor, product, BIOS; serials only where this user may read them (root, mostly).
Json machine_facts(const HostFiles& files);

// release, version, boot_id, clocksource; of the command line only those options that change speed
// (it may hold secrets); versions of loaded modules that GPUs and networks depend on.
Json kernel_facts(const HostFiles& files);

std::optional<std::string> os_name(const HostFiles& files);

// nofile, memlock_bytes, nproc, stack_bytes: each {"soft", "hard"}, a number or "unlimited".
Json limit_facts(const HostFiles& files);

}  // namespace fleetbench
