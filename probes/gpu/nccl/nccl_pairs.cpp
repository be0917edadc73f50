// Bandwidth each way and both, and small-message latency, between GPUs of two nodes, over NCCL.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "probes/gpu/nccl/nccl_probes.hpp"
#include "probes/gpu/nccl/pair_traffic.hpp"
#include "probes/gpu/nccl/told_facts.hpp"
#include "probes/gpu/nvtx_range.hpp"
#include "probes/support/median.hpp"

namespace fleetbench::gpu::nccl {
namespace {

using Way = PairTraffic::Way;

class PreparedPairs : public Prepared {
 public:
  PreparedPairs(const Gpu& gpu, Place place, const PairPlan& plan, WaitLimits limits, DebugLog& log)
      : gpu_(gpu),
        place_(std::move(place)),
        sides_(place_),
        plan_(plan),
        limits_(limits),
        log_(log),
        buffers_(gpu, plan) {
    if (place_.index == 0) {
      own_invitation_ = to_hex(new_unique_id());
    }
  }

  std::string invitation() override { return own_invitation_; }
  void accept(const std::string& invitation) override { id_ = unique_id_from(invitation); }

  Measurement measure() override {
    if (!id_) {
      throw std::runtime_error("nobody invited this rank to the communicator");
    }
    const NvtxRange range("nccl_pairs");
    gpu_.select();
    log_.take();
    Session session(gpu_, place_, *std::exchange(id_, std::nullopt), limits_);
    session.communicator.allow_longer(plan_.max_s);
    PairTraffic traffic(session, sides_, plan_, buffers_);
    traffic.verify();
    Measurement result = measured(session, traffic);
    add_told_facts(session, log_, {}, result.detail);
    session.communicator.finish();
    return result;
  }

 private:
  Measurement measured(Session& session, PairTraffic& traffic) {
    const auto there = traffic.transfer(Way::there);
    const auto back = traffic.transfer(Way::back);
    const auto both = traffic.transfer(Way::both);
    auto one_way_s = traffic.latency();
    const auto latencies_s = session.exchange.each(median(one_way_s));
    const bool is_first = sides_.is_first(place_.index);
    const auto& sent = is_first ? there : back;
    const auto& received = is_first ? back : there;
    Measurement result;
    result.detail = {{"members", place_.size()},
                     {"message_bytes", plan_.message_bytes},
                     {"sent_messages", sent.messages},
                     {"send_s", sent.seconds},
                     {"received_messages", received.messages},
                     {"receive_s", received.seconds},
                     {"both_messages", both.messages},
                     {"both_s", both.seconds},
                     {"latency_batches", one_way_s.size()},
                     {"latency_min_s", std::ranges::min(one_way_s)},
                     {"latency_max_s", std::ranges::max(one_way_s)}};
    result.values.resize(3);
    if (place_.index % sides_.pairs() == 0) {
      result.values[0] = rate_of(sent);
    }
    if (place_.index == 0) {
      result.values[1] = 2 * rate_of(both);
      result.values[2] = median(
          {latencies_s.begin(), latencies_s.begin() + static_cast<std::ptrdiff_t>(sides_.pairs())});
    }
    return result;
  }

  double rate_of(const PairTraffic::Transfer& done) const {
    return sides_.rate(static_cast<double>(plan_.message_bytes) * done.messages, done.rank_s);
  }

  const Gpu& gpu_;
  Place place_;
  PairSides sides_;
  PairPlan plan_;
  WaitLimits limits_;
  DebugLog& log_;
  PairBuffers buffers_;
  std::string own_invitation_;
  std::optional<ncclUniqueId> id_;
};

constexpr const char* kNextCheck =
    "What NCCL took between them (transports under configuration; `NCCL_DEBUG=INFO`): Socket in "
    "the "
    "place of IB, no GDRDMA (nvidia-peermem, ACS on PCIe switches), another NIC than the one "
    "beside "
    "the GPU (`nvidia-smi topo -m`, `NCCL_IB_HCA`). On both ends: speed and lanes of the NIC "
    "(`ibstat`, `ethtool IFACE`, `lspci -vv`), errors (`ibqueryerrors`, `perfquery`, `ethtool -S "
    "IFACE`). mpi_pairs of the same nodes fine: GPU or PCIe (gpu_copy); slow too: cable, "
    "transceiver, then the switch port.";

MetricInfo link_metric(const char* name, bool is_symmetric, const char* description) {
  return {.name = name,
          .unit = "B/s",
          .better = Better::higher,
          .layer = Layer::network,
          .subject = SubjectKind::link,
          .symmetric = is_symmetric,
          .description = description,
          .next_check = kNextCheck};
}

MetricInfo latency_metric() {
  MetricInfo info = link_metric(
      "latency", true,
      "One way time of a small message: half of the round trip of an ncclSend and an ncclRecv on "
      "the streams of both GPUs, mean over 20 round trips, median of those. The launch of a kernel "
      "is in it.");
  info.unit = std::string("s");
  info.better = Better::lower;
  return info;
}

class NcclPairs : public Probe {
 public:
  NcclPairs(const AssignedGpu& assigned, DebugLog& log) : assigned_(assigned), log_(log) {}

  ProbeInfo info() const override {
    Json properties = pair_properties();
    properties.update(limit_properties());
    return {.name = "nccl_pairs",
            .summary =
                "bandwidth each way and both, and small-message latency, between GPUs of two "
                "nodes, over NCCL",
            .layer = Layer::network,
            .participants = Participants::pair,
            .params_schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                              {"type", "object"},
                              {"properties", properties},
                              {"additionalProperties", false}},
            .joins_workers = true};
  }

  std::vector<MetricInfo> metrics(const Json& /*params*/) const override {
    return {
        link_metric("bandwidth", false,
                    "Rate from the GPUs of one node to those of another: ncclSend and ncclRecv "
                    "of large messages one after another, one way at a time, timed by the later "
                    "of both ends; the sum over pairs of GPUs that send at once."),
        link_metric("bandwidth_both", true,
                    "Likewise, both ways at once, each message a group of ncclSend and ncclRecv; "
                    "bytes of both ways together."),
        latency_metric()};
  }

  std::unique_ptr<Prepared> prepare(const Json& params, const Json& work) const override {
    shared_library();
    return std::make_unique<PreparedPairs>(assigned_.select(), place_from(work),
                                           pair_plan_from(params), limits_from(params), log_);
  }

 private:
  const AssignedGpu& assigned_;
  DebugLog& log_;
};

}  // namespace

std::unique_ptr<Probe> make_nccl_pairs(const AssignedGpu& assigned, DebugLog& log) {
  return std::make_unique<NcclPairs>(assigned, log);
}

}  // namespace fleetbench::gpu::nccl
