#include "probes/memory/memory_room.hpp"

#include <fmt/format.h>

#include "probes/probe.hpp"
#include "probes/support/cgroup_limits.hpp"
#include "probes/support/text_fields.hpp"

namespace fleetbench {
namespace {

double gib(double bytes) { return bytes / (1 << 30); }

}  // namespace

void require_room(double bytes, double max_share, const HostFiles& files) {
  const std::string meminfo = files.read_text("/proc/meminfo").value_or("");
  const auto total = field_bytes(meminfo, "MemTotal");
  const auto limit = cgroup_limits(files).memory_bytes;
  const auto available = field_bytes(meminfo, "MemAvailable");
  std::optional<std::int64_t> most = total;
  if (limit && (!most || *limit < *most)) {
    most = limit;
  }
  if (most && bytes > max_share * static_cast<double>(*most)) {
    throw NotAvailable(fmt::format(
        "three arrays of several times the last cache take {:.2f} GiB, more than {:.0f} % of the "
        "{:.2f} GiB that this process may have ({}): lower times_cache or raise max_share",
        gib(bytes), 100 * max_share, gib(static_cast<double>(*most)),
        most == limit ? "control group" : "all of the machine"));
  }
  if (available && bytes > static_cast<double>(*available)) {
    throw std::runtime_error(fmt::format(
        "three arrays of several times the last cache take {:.2f} GiB, but only {:.2f} GiB are "
        "free: something else holds the memory of this node",
        gib(bytes), gib(static_cast<double>(*available))));
  }
}

}  // namespace fleetbench
