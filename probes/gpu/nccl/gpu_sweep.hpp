// Collectives of GPUs over NCCL, each in a sweep of sizes: checked, timed, and when each rank was
// in it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/gpu/nccl/call_memory.hpp"
#include "probes/gpu/nccl/debug_log.hpp"
#include "probes/gpu/nccl/gpu_collective.hpp"
#include "probes/gpu/nccl/group_clock.hpp"
#include "probes/gpu/nccl/nccl_facts.hpp"
#include "probes/gpu/nccl/session.hpp"
#include "probes/probe.hpp"
#include "probes/support/collective_params.hpp"
#include "probes/support/exact_data.hpp"

namespace fleetbench::gpu::nccl {

struct GpuSweepPlan {
  std::vector<const GpuCollective*> collectives;
  SweepParams sweep;
  std::size_t most_bytes = 0;  // sizes above it are left out, on all ranks alike
  WaitLimits limits;
};

// One for each rank. The communicator lives within measure().
class GpuSweep : public Prepared {
 public:
  // `gpu` and `log` outlive it. Takes the memory for the largest size.
  GpuSweep(const Gpu& gpu, Place place, GpuSweepPlan plan, DebugLog& log);

  std::string invitation() override;
  void accept(const std::string& invitation) override;

  // The bus bandwidth of each collective and size, as this rank timed it; none where the size is
  // too small for so many ranks or too large for their memory. The detail holds lists in the order
  // of the values, as that of mpi_collectives: `bytes`, `iterations`, `time_s`, `enter_s`,
  // `leave_s`; `clock_offset_s`, `clock_uncertainty_s`. Throws on all ranks the same WrongResult
  // where one of them received something else than it should have.
  Measurement measure() override;

 private:
  // One collective of one size.
  struct Entry {
    const GpuCollective* collective = nullptr;
    std::size_t count = 0;  // 0: not measured
    std::size_t bytes = 0;
    std::string name;  // "all_reduce of 8 MiB"
  };
  struct Timed {
    int iterations = 0;
    double time_s = 0;  // of one iteration
  };
  using PartSize = std::size_t (CollectiveShape::*)(std::size_t, std::size_t) const;

  std::vector<Entry> entries() const;
  std::size_t largest_buffer(PartSize size) const;
  void enqueue(Session& session, const Entry& entry) const;
  void verify(Session& session) const;
  void agree(Session& session, const std::vector<WrongElements>& mine) const;
  std::string describe(const Entry& entry, std::size_t witness, const std::int64_t* row) const;
  Timed time_calls(Session& session, const Entry& entry) const;
  void add_entry(Session& session, GroupClock& clock, const Entry& entry, std::int64_t start_ns,
                 Measurement& result) const;
  void add_stamps(Session& session, GroupClock& clock, const Entry& entry, std::int64_t start_ns,
                  Json& detail) const;
  MeasuredCalls measured_calls() const;

  const Gpu& gpu_;
  Place place_;
  GpuSweepPlan plan_;
  DebugLog& log_;
  std::vector<Entry> entries_;
  CallMemory send_;
  CallMemory receive_;
  Stream side_stream_;
  std::string own_invitation_;
  std::optional<ncclUniqueId> id_;
};

}  // namespace fleetbench::gpu::nccl
