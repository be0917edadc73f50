// Collectives of a group, each in a sweep of sizes: checked, timed, and when each member was in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "probes/mpi/clock_pings.hpp"
#include "probes/mpi/collective.hpp"
#include "probes/mpi/mpi_probe.hpp"
#include "probes/mpi/sub_communicator.hpp"
#include "probes/support/collective_params.hpp"
#include "probes/support/exact_data.hpp"
#include "probes/support/pages.hpp"

namespace fleetbench {

struct SweepPlan {
  std::vector<const Collective*> collectives;
  SweepParams sweep;
};

// All members of the group construct one and call its functions together; each may block for ever
// where one of them does not. Throws std::runtime_error when MPI reports an error.
class CollectiveSweep : public Prepared {
 public:
  CollectiveSweep(SweepPlan plan, const MpiGroup& group);
  ~CollectiveSweep() override;

  // Untimed; also opens the connections. All members throw the same WrongResult, so that
  // none goes on to wait for the others.
  void verify();
  // After it measure() can tell times on the clock of member 0.
  void find_clock();

  // The bus bandwidth of each collective and size, as the caller timed it; none where the size is
  // too small for so many members. The detail holds lists in the order of the values: `bytes` that
  // were really measured, `iterations`, `time_s` of one of them, and `enter_s` and `leave_s`: when
  // this member began and ended one further call, since member 0 began to measure and on its clock,
  // from which that of this member differs by `clock_offset_s` give or take `clock_uncertainty_s`.
  Measurement measure() override;

 private:
  // One collective of one size.
  struct Entry {
    const Collective* collective = nullptr;
    std::size_t wanted_bytes = 0;
    std::size_t count = 0;  // 0: too small for so many members
    std::size_t bytes = 0;
  };
  struct Timed {
    int iterations = 0;
    double time_s = 0;  // of one iteration
  };
  using PartSize = std::size_t (Collective::*)(std::size_t, std::size_t) const;

  std::size_t largest_buffer(PartSize size) const;
  std::span<float> send_part(const Entry& entry) const;
  std::span<float> receive_part(const Entry& entry) const;
  void call(const Entry& entry) const;
  WrongElements check(const Entry& entry, const ExactData& data);
  void agree(const std::vector<WrongElements>& mine);
  std::string describe(const std::vector<WrongElements>& mine, int witness) const;
  double loop_s(const Entry& entry, int iterations) const;
  Timed time_calls(const Entry& entry) const;
  void add_stamps(const Entry& entry, std::int64_t start_ns, Json& detail) const;

  SweepPlan plan_;
  std::vector<int> ranks_;
  std::size_t me_;
  std::vector<Entry> entries_;
  Pages send_;
  Pages receive_;
  SubCommunicator comm_;  // last: no other member waits for one that has no memory
  MemberClock clock_;
  bool in_flight_ = false;
};

}  // namespace fleetbench
