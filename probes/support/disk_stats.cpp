#include "probes/support/disk_stats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "probes/support/text_fields.hpp"

namespace fleetbench {
namespace {

constexpr double kSector_bytes = 512;
constexpr std::size_t kNameFields = 3;  // major, minor, name
constexpr std::size_t kCounters = 11;
constexpr std::uint64_t kWrap = std::uint64_t{1} << 32U;
// No counter grows by this much between two readings of one measurement.
constexpr std::uint64_t kMostGrowth = std::uint64_t{1} << 31U;

std::optional<std::uint64_t> unsigned_integer(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

std::optional<DiskCounters> counters(std::span<const std::string_view> fields) {
  if (fields.size() < kCounters) {
    return std::nullopt;
  }
  std::array<std::uint64_t, kCounters> values{};
  for (std::size_t i = 0; i < kCounters; ++i) {
    const auto value = unsigned_integer(fields[i]);
    if (!value) {
      return std::nullopt;
    }
    values[i] = *value;
  }
  return DiskCounters{.reads = values[0],
                      .reads_merged = values[1],
                      .sectors_read = values[2],
                      .read_ms = values[3],
                      .writes = values[4],
                      .writes_merged = values[5],
                      .sectors_written = values[6],
                      .write_ms = values[7],
                      .busy_ms = values[9],  // [8] is how many are in flight just now
                      .weighted_ms = values[10]};
}

// By how much a counter grew.
class Growth {
 public:
  double of(std::uint64_t before, std::uint64_t after) {
    if (after < before && before < kWrap) {
      after += kWrap;
    }
    const std::uint64_t grown = after - before;
    plausible_ = plausible_ && after >= before && grown < kMostGrowth;
    return static_cast<double>(grown);
  }
  bool plausible() const { return plausible_; }

 private:
  bool plausible_ = true;
};

std::optional<double> per(double amount, double count) {
  return count > 0 ? std::optional(amount / count) : std::nullopt;
}

}  // namespace

std::optional<DiskCounters> disk_counters(std::string_view diskstats, std::string_view name) {
  for (const auto line : split(diskstats, '\n')) {
    const auto fields = words(line);
    if (fields.size() > kNameFields && fields[2] == name) {
      return counters(std::span(fields).subspan(kNameFields));
    }
  }
  return std::nullopt;
}

std::optional<DiskCounters> disk_counters_of_stat(std::string_view stat) {
  return counters(words(stat));
}

std::optional<DiskRates> disk_rates(const DiskCounters& before, const DiskCounters& after,
                                    double seconds) {
  if (!(seconds > 0)) {
    return std::nullopt;
  }
  Growth growth;
  const double reads = growth.of(before.reads, after.reads);
  const double writes = growth.of(before.writes, after.writes);
  const double read_bytes = kSector_bytes * growth.of(before.sectors_read, after.sectors_read);
  const double written_bytes =
      kSector_bytes * growth.of(before.sectors_written, after.sectors_written);
  const double read_s = 1e-3 * growth.of(before.read_ms, after.read_ms);
  const double write_s = 1e-3 * growth.of(before.write_ms, after.write_ms);
  const double busy_s = 1e-3 * growth.of(before.busy_ms, after.busy_ms);
  const double weighted_s = 1e-3 * growth.of(before.weighted_ms, after.weighted_ms);
  if (!growth.plausible()) {
    return std::nullopt;
  }
  return DiskRates{.r_per_s = reads / seconds,
                   .w_per_s = writes / seconds,
                   .r_bytes_per_s = read_bytes / seconds,
                   .w_bytes_per_s = written_bytes / seconds,
                   .r_await_s = per(read_s, reads),
                   .w_await_s = per(write_s, writes),
                   .r_request_bytes = per(read_bytes, reads),
                   .w_request_bytes = per(written_bytes, writes),
                   .queue = weighted_s / seconds,
                   .busy = std::min(1.0, busy_s / seconds)};
}

std::optional<std::string> disk_of_device(const HostFiles& files, unsigned major, unsigned minor) {
  if (major == 0) {
    return std::nullopt;
  }
  const auto folder = files.resolved(fmt::format("/sys/dev/block/{}:{}", major, minor));
  if (!folder) {
    return std::nullopt;
  }
  const bool is_partition = files.read_integer(*folder / "partition").has_value();
  return (is_partition ? folder->parent_path() : *folder).filename().string();
}

}  // namespace fleetbench
