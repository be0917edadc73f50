// What the NFS client counts for a mount: the text of /proc/self/mountstats.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace fleetbench {

// Of one operation, as nfsiostat reads them.
struct NfsOperation {
  std::uint64_t operations = 0;
  std::uint64_t transmissions = 0;  // more than operations where some were sent again
  std::uint64_t timeouts = 0;       // major ones
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t queue_ms = 0;    // before sending, all operations together
  std::uint64_t rtt_ms = 0;      // from sending to the answer
  std::uint64_t execute_ms = 0;  // from being asked to being done
};

using NfsCounters = std::map<std::string, NfsOperation>;  // READ, WRITE, GETATTR …

// Of what is mounted on `mount_point`, of several the last. Nothing where that is no NFS mount.
std::optional<NfsCounters> nfs_counters(std::string_view mountstats, std::string_view mount_point);

// What happened in between, of the operations that happened: {"READ": {"operations", "sent_again",
// "timeouts", "rtt_s", "execute_s"}}, times as means per operation. Those whose counters went back
// (mounted anew) are left out.
nlohmann::json nfs_activity(const NfsCounters& before, const NfsCounters& after);

}  // namespace fleetbench
