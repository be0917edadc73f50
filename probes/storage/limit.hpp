// Which limit a figure of storage ran into.
#pragma once

#include <optional>
#include <string>

namespace fleetbench {

enum class IoLimit { metadata, iops, throughput, latency, unknown };
std::string_view to_string(IoLimit limit);

// What is known of requests that were made in a steady way.
struct IoLoad {
  double block_bytes = 0;
  double depth = 1;  // how many requests were to be under way at a time
  double rate_per_s = 0;
  std::optional<double> latency_s;      // mean, from issue to completion
  std::optional<double> request_bytes;  // mean, as it reached the disk; blocks may be joined or cut
  std::optional<double> busy;           // share of the time in which the disk had something to do
  std::optional<double> disk_queue;     // how many requests were at the disk, mean
};

struct IoVerdict {
  IoLimit limit = IoLimit::unknown;
  std::string why;
};

// By Little's law rate × latency is how many requests really were under way (J. D. C. Little, "A
// Proof for the Queuing Formula L = λW", Operations Research 9, 1961).
// - Far fewer than asked for: whoever asks is the limit, not the storage: unknown.
// - The disk idle for half of the time or more with less than one request at it on average, or no
//   more than one small request asked for at a time: the way there is the limit: latency.
// - Else storage is kept busy. Requests of 128 KiB or more: throughput. Of 16 KiB or less: IOPS.
//   In between either may be: unknown.
// The shares are round figures for "mostly"; the limit explains, nothing is judged by it.
IoVerdict io_limit(const IoLoad& load);

// Small files: each costs several operations on names. Metadata, unless they move at least half of
// what big files do on the same path: then throughput. Metadata too where that is not known.
IoVerdict small_file_limit(double bytes_per_s, std::optional<double> sequential_bytes_per_s);

}  // namespace fleetbench
