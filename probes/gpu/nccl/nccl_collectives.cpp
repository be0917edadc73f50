// Collectives over all GPUs of a group, in a sweep of sizes, over NCCL.
#include <fmt/format.h>

#include <limits>
#include <memory>
#include <utility>

#include "probes/gpu/nccl/gpu_sweep.hpp"
#include "probes/gpu/nccl/nccl_probes.hpp"

namespace fleetbench::gpu::nccl {
namespace {

// Each size takes two buffers of it at most; the rest is for NCCL and for others' differences.
constexpr double kShareOfFree = 0.8;
constexpr const char* kMostBytes = "most_bytes";

GpuSweepPlan plan_of(const Json& params, const Json& work) {
  GpuSweepPlan plan{.collectives = {},
                    .sweep = sweep_params(params),
                    .most_bytes = work.value(kMostBytes, std::numeric_limits<std::size_t>::max()),
                    .limits = limits_from(params)};
  for (const std::string& name : plan.sweep.collectives) {
    plan.collectives.push_back(&gpu_collective(name));
  }
  return plan;
}

Json schema() {
  SweepLimits limits{
      .collectives = {}, .end_bytes = 1LL << 30, .largest_bytes = std::int64_t{8} << 30};
  for (const GpuCollective& collective : gpu_collectives()) {
    limits.collectives.push_back(collective.rule->name);
  }
  Json properties = sweep_properties(limits);
  properties.update(limit_properties());
  return {{"$schema", "http://json-schema.org/draft-07/schema#"},
          {"type", "object"},
          {"properties", properties},
          {"additionalProperties", false}};
}

MetricInfo busbw_metric(const GpuCollective& collective, std::size_t bytes) {
  const CollectiveRule& rule = *collective.rule;
  return {
      .name = busbw_name(rule.name, bytes),
      .unit = "B/s",
      .better = Better::higher,
      .layer = Layer::network,
      .subject = SubjectKind::group,
      .symmetric = false,
      .description = fmt::format(
          "Bus bandwidth of {} of {} bytes {}, float{}{}: {} in a loop on one stream, timed by "
          "each "
          "rank by its device's clock; bytes / time times nccl-tests' factor. No value where the "
          "size does not fit into the GPUs' memory.",
          rule.name, bytes,
          rule.shared_out ? "shared out among the ranks (each share in whole 16 bytes; no value "
                            "where there are too few)"
                          : "on each rank",
          rule.redop == "sum" && collective.arrives != CollectiveShape::Arrives::from_previous
              ? ", sum"
              : "",
          rule.root == 0 ? ", root is the first rank" : "", collective.nccl_call),
      .next_check =
          "A collective is as slow as its slowest rank or link and names neither: look at "
          "nccl_pairs "
          "of the same run and at gpu_peer_copy. All pairs fine: what NCCL chose (transports and "
          "algorithms under configuration; `NCCL_DEBUG=INFO`), GPUDirect RDMA missing "
          "(nvidia-peermem), "
          "ACS on PCIe switches, a NIC that NCCL did not take (`NCCL_IB_HCA`, "
          "`NCCL_SOCKET_IFNAME`), then what all nodes share (switch, uplinks, routing)."};
}

class NcclCollectives : public Probe {
 public:
  NcclCollectives(const AssignedGpu& assigned, DebugLog& log) : assigned_(assigned), log_(log) {}

  ProbeInfo info() const override {
    return {.name = "nccl_collectives",
            .summary = "collectives over all GPUs of a group in a sweep of sizes, over NCCL",
            .layer = Layer::network,
            .participants = Participants::group,
            .params_schema = schema(),
            .joins_workers = true};
  }

  std::vector<MetricInfo> metrics(const Json& params) const override {
    const SweepParams sweep = sweep_params(params);
    std::vector<MetricInfo> list;
    for (const std::string& name : sweep.collectives) {
      for (const std::size_t bytes : sweep.sizes_bytes) {
        list.push_back(busbw_metric(gpu_collective(name), bytes));
      }
    }
    return list;
  }

  Json calibrate(const Json& /*params*/) const override {
    const Gpu& gpu = assigned_.select();
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    gpu.check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
    return {
        {kMostBytes, static_cast<std::size_t>(static_cast<double>(free_bytes) * kShareOfFree / 2)}};
  }

  std::unique_ptr<Prepared> prepare(const Json& params, const Json& work) const override {
    shared_library();
    Place place = place_from(work);
    if (place.size() < 2) {
      throw NotAvailable("nccl_collectives takes two GPUs or more, this slot has one");
    }
    return std::make_unique<GpuSweep>(assigned_.select(), std::move(place), plan_of(params, work),
                                      log_);
  }

 private:
  const AssignedGpu& assigned_;
  DebugLog& log_;
};

}  // namespace

std::unique_ptr<Probe> make_nccl_collectives(const AssignedGpu& assigned, DebugLog& log) {
  return std::make_unique<NcclCollectives>(assigned, log);
}

}  // namespace fleetbench::gpu::nccl
