#include "probes/support/network_changes.hpp"

#include <algorithm>
#include <array>

namespace fleetbench {
namespace {

constexpr double kLeastShare = 0.1;
constexpr double kFewestCarried = 1000;
// More than anything counts during a measurement: rubbish.
constexpr std::int64_t kMostRise = std::int64_t{1} << 53;

struct Rate {
  const char* kind;
  const char* against;
};
constexpr std::array<Rate, 5> kRates{{{"port_xmit_wait", "words_sent"},
                                      {"pause_received", "packets_sent"},
                                      {"pause_sent", "packets_received"},
                                      {"congestion_marked", "packets_received"},
                                      {"congestion_slowed", "packets_sent"}}};
constexpr std::array<const char*, 4> kTraffic{"packets_sent", "packets_received", "words_sent",
                                              "bytes"};

bool is_counted_alone(const std::string& kind) {
  return std::ranges::find(kTraffic, kind) == kTraffic.end() &&
         std::ranges::find(kRates, kind, &Rate::kind) == kRates.end();
}

// None where it fell or cannot be told.
std::optional<std::int64_t> rise_of(const std::map<std::string, std::int64_t>& before,
                                    const std::string& name, std::int64_t value) {
  const auto old = before.find(name);
  const bool tells =
      old != before.end() && value >= old->second && value - old->second <= kMostRise;
  return tells ? std::optional(value - old->second) : std::nullopt;
}

// What all counters of a kind rose by; none where that of one of them cannot be told.
std::optional<double> rise_of_kind(const NetworkPort& before, const NetworkPort& after,
                                   const std::string& kind) {
  const auto earlier = before.counters.find(kind);
  const auto later = after.counters.find(kind);
  if (earlier == before.counters.end() || later == after.counters.end()) {
    return std::nullopt;
  }
  double sum = 0;
  for (const auto& [name, value] : later->second) {
    const auto rise = rise_of(earlier->second, name, value);
    if (!rise) {
      return std::nullopt;
    }
    sum += static_cast<double>(*rise);
  }
  return sum;
}

void add_rises(const std::string& port, const NetworkPort& before, const NetworkPort& after,
               Counters& rises) {
  for (const auto& [kind, counters] : after.counters) {
    const auto earlier = before.counters.find(kind);
    if (!is_counted_alone(kind) || earlier == before.counters.end()) {
      continue;
    }
    auto& risen = rises[kind];
    for (const auto& [name, value] : counters) {
      const auto rise = rise_of(earlier->second, name, value);
      if (rise.value_or(0) > 0) {
        risen[port + " " + name] = *rise;
      }
    }
  }
}

void add_rates(const std::string& port, const NetworkPort& before, const NetworkPort& after,
               NetworkChanges& changes) {
  for (const Rate& rate : kRates) {
    const auto rise = rise_of_kind(before, after, rate.kind);
    const auto carried = rise_of_kind(before, after, rate.against);
    if (rise && carried && *carried >= kFewestCarried) {
      changes.rates[rate.kind][port] = *rise / *carried;
    }
  }
}

void add_lower(const std::string& port, const std::optional<double>& before,
               const std::optional<double>& after, std::map<std::string, double>& values) {
  if (before && after) {
    values[port] = std::min(*before, *after);
  }
}

double bytes_carried(const NetworkPorts& before, const NetworkPorts& after,
                     const std::string& port) {
  const auto earlier = before.find(port);
  const auto later = after.find(port);
  return earlier == before.end() || later == after.end()
             ? 0
             : rise_of_kind(earlier->second, later->second, "bytes").value_or(0);
}

}  // namespace

NetworkChanges changes_between(const NetworkPorts& before, const NetworkPorts& after) {
  NetworkChanges changes;
  double all = 0;
  for (const auto& [name, port] : after) {
    all += bytes_carried(before, after, name);
  }
  for (const auto& [name, port] : before) {
    const auto later = after.find(name);
    if (later == after.end()) {
      if (port.hardware) {
        changes.gone.push_back(name);
      }
      continue;
    }
    const double own = bytes_carried(before, after, name);
    if (!port.hardware && (own == 0 || own < kLeastShare * all)) {
      continue;
    }
    add_rises(name, port, later->second, changes.rises);
    add_rates(name, port, later->second, changes);
    if (port.hardware) {
      add_lower(name, port.gbit, later->second.gbit, changes.gbit);
      add_lower(name, port.lanes, later->second.lanes, changes.lanes);
    }
  }
  return changes;
}

}  // namespace fleetbench
