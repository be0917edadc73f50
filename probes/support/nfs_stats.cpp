#include "probes/support/nfs_stats.hpp"

#include <array>

#include "probes/support/mountinfo.hpp"
#include "probes/support/printable.hpp"
#include "probes/support/text_fields.hpp"

namespace fleetbench {
namespace {

constexpr std::size_t kNumbers = 8;  // a ninth, errors, came with Linux 5.0
constexpr std::size_t kMaxOperations = 256;

// "device server:/export mounted on /mnt with fstype nfs4 statvers=1.1"
bool begins_nfs_mount(const std::vector<std::string_view>& fields, std::string_view mount_point) {
  return fields.size() >= 8 && fields[7].starts_with("nfs") && fields[7] != "nfsd" &&
         without_octal_escapes(fields[4]) == mount_point;
}

// "READ: 5 5 0 780 20971520 0 12 13 0"
std::optional<NfsOperation> operation(const std::vector<std::string_view>& fields) {
  if (fields.size() < kNumbers + 1 || !fields[0].ends_with(':')) {
    return std::nullopt;
  }
  std::array<std::uint64_t, kNumbers> values{};
  for (std::size_t i = 0; i < kNumbers; ++i) {
    const auto value = parse_integer(fields[i + 1]);
    if (!value || *value < 0) {
      return std::nullopt;
    }
    values[i] = static_cast<std::uint64_t>(*value);
  }
  return NfsOperation{.operations = values[0],
                      .transmissions = values[1],
                      .timeouts = values[2],
                      .bytes_sent = values[3],
                      .bytes_received = values[4],
                      .queue_ms = values[5],
                      .rtt_ms = values[6],
                      .execute_ms = values[7]};
}

bool went_back(const NfsOperation& before, const NfsOperation& after) {
  return after.operations < before.operations || after.transmissions < before.transmissions ||
         after.timeouts < before.timeouts || after.rtt_ms < before.rtt_ms ||
         after.execute_ms < before.execute_ms;
}

}  // namespace

std::optional<NfsCounters> nfs_counters(std::string_view mountstats, std::string_view mount_point) {
  std::optional<NfsCounters> found;
  bool ours = false;
  bool per_operation = false;
  for (const auto line : split(mountstats, '\n')) {
    const auto fields = words(line);
    if (!fields.empty() && fields[0] == "device") {
      ours = begins_nfs_mount(fields, mount_point);
      per_operation = false;
      if (ours) {
        found.emplace();
      }
    } else if (fields.size() == 2 && fields[0] == "per-op") {
      per_operation = true;
    } else if (ours && per_operation && found->size() < kMaxOperations) {
      if (const auto read = operation(fields)) {
        found->emplace(printable_text(fields[0].substr(0, fields[0].size() - 1)), *read);
      }
    }
  }
  return found;
}

nlohmann::json nfs_activity(const NfsCounters& before, const NfsCounters& after) {
  nlohmann::json activity = nlohmann::json::object();
  for (const auto& [name, now] : after) {
    const auto earlier = before.find(name);
    const NfsOperation then = earlier == before.end() ? NfsOperation{} : earlier->second;
    if (went_back(then, now) || now.operations == then.operations) {
      continue;
    }
    const auto operations = now.operations - then.operations;
    const auto transmissions = now.transmissions - then.transmissions;
    const auto mean_s = [&](std::uint64_t total_ms) {
      return 1e-3 * static_cast<double>(total_ms) / static_cast<double>(operations);
    };
    activity[name] = {{"operations", operations},
                      {"sent_again", transmissions > operations ? transmissions - operations : 0},
                      {"timeouts", now.timeouts - then.timeouts},
                      {"rtt_s", mean_s(now.rtt_ms - then.rtt_ms)},
                      {"execute_s", mean_s(now.execute_ms - then.execute_ms)}};
  }
  return activity;
}

}  // namespace fleetbench
