#include "probes/support/member_clock.hpp"

#include <algorithm>

namespace fleetbench {

MemberClock clock_from(std::span<const ClockPing> pings) {
  const auto trip_ns = [](const ClockPing& ping) { return ping.received_ns - ping.sent_ns; };
  const ClockPing best = *std::ranges::min_element(pings, {}, trip_ns);
  return {best.answered_ns - best.sent_ns - trip_ns(best) / 2, (trip_ns(best) + 1) / 2};
}

}  // namespace fleetbench
