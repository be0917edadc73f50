// Counters of a machine that only ever rise, and of which a rise during a measurement explains it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "probes/support/host_files.hpp"

namespace fleetbench {

// By kind ("disk_errors"), then by place ("sda1 ext4"). A kind is there, though perhaps without
// places, where this machine counts it at all.
using Counters = std::map<std::string, std::map<std::string, std::int64_t>>;

//   context_switches                of the whole machine
//   cpu_quota_throttles             periods in which the control group was out of its CPU quota
//   thermal_throttles               of cores and packages
//   tcp_retransmits                 segments, of the network namespace
//   tcp_timeouts                    times that TCP waited for an answer in vain
//   tcp_lost_retransmits            segments that were sent again and lost again
//   disk_errors                     by SCSI or SATA disk, and by ext4 file system
//   pcie_correctable, pcie_nonfatal, pcie_fatal    by device, from Advanced Error Reporting
Counters read_counters(const HostFiles& files);

// What rose from `before` to `after`, places that did not left out. A place that is in one of them
// alone is left out too: see gone_devices.
Counters rises(const Counters& before, const Counters& after);

// What was counted before and is not any more, each device once: "sda". It fell off.
std::vector<std::string> gone_devices(const Counters& before, const Counters& after);

}  // namespace fleetbench
