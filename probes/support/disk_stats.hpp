// The kernel's counters of a disk, and from two readings what `iostat -x` shows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "probes/support/host_files.hpp"

namespace fleetbench {

// See Documentation/admin-guide/iostats.rst of Linux.
struct DiskCounters {
  std::uint64_t reads = 0;
  std::uint64_t reads_merged = 0;
  std::uint64_t sectors_read = 0;  // of 512 bytes, whatever the disk's own are
  std::uint64_t read_ms = 0;
  std::uint64_t writes = 0;
  std::uint64_t writes_merged = 0;
  std::uint64_t sectors_written = 0;
  std::uint64_t write_ms = 0;
  std::uint64_t busy_ms = 0;
  std::uint64_t weighted_ms = 0;  // busy, times how many were in flight
};

// Of the disk or partition `name` in the text of /proc/diskstats: lines of 14 fields, 18 with
// discards (Linux 4.18), 20 with flushes (5.5). Nothing where it is not there or of another form.
std::optional<DiskCounters> disk_counters(std::string_view diskstats, std::string_view name);
// The text of /sys/block/NAME/stat: the same without numbers and name, 11, 15 or 17 fields.
std::optional<DiskCounters> disk_counters_of_stat(std::string_view stat);

// Names and units of iostat, in SI units: kB/s are bytes per second here, ms are seconds.
struct DiskRates {
  double r_per_s = 0;
  double w_per_s = 0;
  double r_bytes_per_s = 0;
  double w_bytes_per_s = 0;
  std::optional<double> r_await_s;  // nothing where there was no read
  std::optional<double> w_await_s;
  std::optional<double> r_request_bytes;
  std::optional<double> w_request_bytes;
  double queue = 0;  // aqu-sz
  double busy = 0;   // %util as a share, at most 1
};

// Counters that wrapped around at 32 bits are taken as going on; nothing where they went back
// without that (the disk was exchanged) or `seconds` is not positive.
std::optional<DiskRates> disk_rates(const DiskCounters& before, const DiskCounters& after,
                                    double seconds);

// The name of the whole disk behind device number `major`:`minor`: of a partition its disk. Nothing
// where there is none, as for overlay, tmpfs, NFS and btrfs, which have major 0.
std::optional<std::string> disk_of_device(const HostFiles& files, unsigned major, unsigned minor);

}  // namespace fleetbench
