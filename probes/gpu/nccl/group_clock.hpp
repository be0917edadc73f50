// One clock for the streams of all ranks: when an event came, on rank 0's host.
#pragma once

#include <optional>

#include "probes/gpu/nccl/session.hpp"
#include "probes/support/member_clock.hpp"

namespace fleetbench::gpu::nccl {

class GroupClock {
 public:
  // All ranks construct one together. Hosts are compared by clock_from(); ranks of one host share
  // its clock. Rank 0 pings up to kSpan - 1 hosts, and each kSpan-th host those that follow it, so
  // that nobody has many partners: their offsets and uncertainties add up.
  explicit GroupClock(Session& session);

  static constexpr std::size_t kSpan = 128;

  // This rank's host against rank 0's.
  const MemberClock& host() const { return host_; }

  // All ranks together: ties the device's clock to the host's, shortly before what is to be told.
  // Then all leave a barrier, which takes a few microseconds from the first to the last of them: by
  // as much as a clock says otherwise it may be wrong.
  void anchor();
  // Nanoseconds on rank 0's clock at which `event` was reached. Precondition: anchor() was called,
  // the event is complete.
  std::int64_t time_of(const Event& event) const;
  // By how much that may be wrong, in the worst case so far.
  std::int64_t uncertainty_ns() const { return uncertainty_ns_; }

 private:
  struct Hosts;
  // The event was reached at this time of the host's clock, give or take the uncertainty.
  struct Anchor {
    Event event;
    std::int64_t host_ns = 0;
    std::int64_t uncertainty_ns = 0;
  };

  MemberClock ping(std::size_t rank);
  void answer(std::size_t rank);
  std::vector<std::int64_t> measure(const Hosts& hosts);
  Anchor new_anchor() const;

  Session& session_;
  MemberClock host_;
  std::optional<Anchor> anchor_;
  std::int64_t uncertainty_ns_ = 0;
};

}  // namespace fleetbench::gpu::nccl
