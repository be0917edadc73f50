#include "probes/gpu/nccl/group_clock.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace fleetbench::gpu::nccl {
namespace {

constexpr int kPings = 8;  // the first one may have to open a connection
constexpr int kAnchors = 5;

}  // namespace

// The first rank of each host, in the order of their ranks.
struct GroupClock::Hosts {
  explicit Hosts(const Place& place) : owner_of(place.clock_owners()), owners(owner_of) {
    std::ranges::sort(owners);
    owners.erase(std::ranges::unique(owners).begin(), owners.end());
  }
  std::size_t place_of(std::size_t rank) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(owners, owner_of.at(rank)) -
                                    owners.begin());
  }

  std::vector<std::size_t> owner_of;
  std::vector<std::size_t> owners;
};

GroupClock::GroupClock(Session& session) : session_(session) {
  session.communicator.progress() = {.phase = "the comparison of clocks"};
  const Hosts hosts(session.communicator.place());
  const auto found = session.exchange.sum(measure(hosts));
  const std::size_t mine = hosts.place_of(session.communicator.place().index);
  const std::size_t leader = mine - mine % kSpan;
  host_ = {found[2 * mine], found[2 * mine + 1]};
  if (leader != mine) {
    host_.offset_ns += found[2 * leader];
    host_.uncertainty_ns += found[2 * leader + 1];
  }
  uncertainty_ns_ = host_.uncertainty_ns;
}

// Offset and uncertainty of each host against its leader's clock, as far as this rank found them.
std::vector<std::int64_t> GroupClock::measure(const Hosts& hosts) {
  std::vector<std::int64_t> found(2 * hosts.owners.size(), 0);
  const std::size_t index = session_.communicator.place().index;
  const std::size_t mine = hosts.place_of(index);
  if (hosts.owners[mine] != index) {
    return found;
  }
  const auto compare_with = [&](std::size_t host) {
    const MemberClock clock = ping(hosts.owners[host]);
    found[2 * host] = clock.offset_ns;
    found[2 * host + 1] = clock.uncertainty_ns;
  };
  if (mine == 0) {
    for (std::size_t leader = kSpan; leader < hosts.owners.size(); leader += kSpan) {
      compare_with(leader);
    }
  } else {
    answer(hosts.owners[mine % kSpan == 0 ? 0 : mine - mine % kSpan]);
  }
  if (mine % kSpan == 0) {
    const std::size_t end = std::min(mine + kSpan, hosts.owners.size());
    for (std::size_t host = mine + 1; host < end; ++host) {
      compare_with(host);
    }
  }
  return found;
}

MemberClock GroupClock::ping(std::size_t rank) {
  std::array<ClockPing, kPings> pings;
  for (ClockPing& one : pings) {
    one.sent_ns = MemberClock::here_ns();
    session_.exchange.send(0, rank);
    one.answered_ns = session_.exchange.receive(rank);
    one.received_ns = MemberClock::here_ns();
  }
  return clock_from(pings);
}

void GroupClock::answer(std::size_t rank) {
  for (int i = 0; i < kPings; ++i) {
    session_.exchange.receive(rank);
    session_.exchange.send(MemberClock::here_ns(), rank);
  }
}

// The event was reached between both stamps; of a few tries the one with the shortest counts.
GroupClock::Anchor GroupClock::new_anchor() const {
  const Gpu& gpu = session_.communicator.gpu();
  std::optional<Anchor> best;
  for (int i = 0; i < kAnchors; ++i) {
    Event event(gpu);
    const std::int64_t before_ns = MemberClock::here_ns();
    gpu.check(cudaEventRecord(event.get(), session_.stream.get()), "cudaEventRecord");
    session_.communicator.wait(event);
    const std::int64_t took_ns = MemberClock::here_ns() - before_ns;
    if (!best || took_ns / 2 < best->uncertainty_ns) {
      best = Anchor{std::move(event), before_ns + took_ns / 2, (took_ns + 1) / 2};
    }
  }
  return std::move(*best);
}

void GroupClock::anchor() {
  session_.exchange.meet();
  anchor_ = new_anchor();
  session_.exchange.meet();
  const std::size_t me = session_.communicator.place().index;
  std::vector<std::int64_t> left_ns(session_.communicator.place().size(), 0);
  left_ns[me] = time_of(session_.exchange.last());
  left_ns = session_.exchange.sum(std::move(left_ns));
  const std::int64_t mine_ns = left_ns[me];
  const auto middle = left_ns.begin() + static_cast<std::ptrdiff_t>(left_ns.size() / 2);
  std::ranges::nth_element(left_ns, middle);
  uncertainty_ns_ = std::max({uncertainty_ns_, host_.uncertainty_ns + anchor_->uncertainty_ns,
                              std::abs(mine_ns - *middle)});
}

std::int64_t GroupClock::time_of(const Event& event) const {
  const double since_s = seconds_between(session_.communicator.gpu(), anchor_->event, event);
  return anchor_->host_ns + static_cast<std::int64_t>(since_s * 1e9) - host_.offset_ns;
}

}  // namespace fleetbench::gpu::nccl
