#include "probes/storage/limit.hpp"

#include <fmt/format.h>

namespace fleetbench {
namespace {

constexpr double kMostly = 0.5;
constexpr double kLarge_bytes = 128 << 10;
constexpr double kSmall_bytes = 16 << 10;

}  // namespace

std::string_view to_string(IoLimit limit) {
  switch (limit) {
    case IoLimit::metadata:
      return "metadata";
    case IoLimit::iops:
      return "IOPS";
    case IoLimit::throughput:
      return "throughput";
    case IoLimit::latency:
      return "latency";
    case IoLimit::unknown:
      break;
  }
  return "unknown";
}

IoVerdict io_limit(const IoLoad& load) {
  if (load.latency_s) {
    const double under_way = load.rate_per_s * *load.latency_s;
    if (under_way < kMostly * load.depth) {
      return {IoLimit::unknown,
              fmt::format("{:.2g} requests under way of {:.3g} asked for: whoever asks is slow",
                          under_way, load.depth)};
    }
  }
  if (load.busy && *load.busy < kMostly && load.disk_queue.value_or(0) < 1) {
    return {IoLimit::latency, fmt::format("the disk is busy for {:.0f} %: requests spend their "
                                          "time on the way",
                                          100 * *load.busy)};
  }
  const double size = load.request_bytes.value_or(load.block_bytes);
  if (size >= kLarge_bytes) {
    return {IoLimit::throughput, fmt::format("requests of {:.0f} KiB", size / 1024)};
  }
  if (load.depth <= 1) {
    return {IoLimit::latency, "one request at a time"};
  }
  if (size <= kSmall_bytes) {
    return {IoLimit::iops,
            fmt::format("requests of {:.0f} KiB, {:.3g} under way", size / 1024, load.depth)};
  }
  return {IoLimit::unknown,
          fmt::format("requests of {:.0f} KiB are neither large nor small", size / 1024)};
}

IoVerdict small_file_limit(double bytes_per_s, std::optional<double> sequential_bytes_per_s) {
  if (!sequential_bytes_per_s) {
    return {IoLimit::metadata, "several operations on names for each file"};
  }
  const double share = bytes_per_s / *sequential_bytes_per_s;
  return {share < kMostly ? IoLimit::metadata : IoLimit::throughput,
          fmt::format("small files move {:.2g} of what big ones do", share)};
}

}  // namespace fleetbench
