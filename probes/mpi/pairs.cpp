// Bandwidth each way and small-message latency between two nodes, over MPI.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "probes/mpi/mpi_probe.hpp"
#include "probes/mpi/pair_link.hpp"
#include "probes/support/median.hpp"

namespace fleetbench {
namespace {

// Often enough that a capped run stops soon, seldom enough that reading the clock costs nothing.
constexpr int kRoundTripsPerBatch = 20;
constexpr int kWarmUpWindows = 1;  // the verified exchange was another
constexpr int kWarmUpBatches = 2;

struct PairPlan {
  PairShape shape;
  int windows = 1;
  int batches = 1;
  int round_trips = 1;  // per batch
  double max_s = 0;
};

PairPlan plan_of(const Json& params) {
  PairPlan plan;
  plan.shape.message_bytes = params.at("message_bytes").get<std::size_t>();
  plan.shape.window = params.at("window").get<int>();
  plan.shape.latency_bytes = params.at("latency_bytes").get<std::size_t>();
  const auto windows = params.at("bytes").get<std::size_t>() / plan.shape.window_bytes();
  plan.windows = std::max(1, static_cast<int>(windows));
  const int iterations = params.at("latency_iterations").get<int>();
  plan.round_trips = std::min(kRoundTripsPerBatch, iterations);
  plan.batches = (iterations + plan.round_trips - 1) / plan.round_trips;
  plan.max_s = params.at("max_s").get<double>();
  return plan;
}

class PreparedPair : public Prepared {
 public:
  PreparedPair(const PairPlan& plan, const MpiGroup& group)
      : plan_(plan), link_(group, plan.shape) {}

  void verify_and_warm_up() {
    if (const auto wrong = link_.verify()) {
      throw WrongResult("mpi_pairs: " + *wrong);
    }
    exchange(kWarmUpWindows, kWarmUpBatches);
  }

  Measurement measure() override {
    const Exchange done = exchange(plan_.windows, plan_.batches);
    const double sent_bytes =
        static_cast<double>(plan_.shape.window_bytes()) * static_cast<double>(done.sent.windows);
    Measurement result;
    result.values = {sent_bytes / done.sent.seconds, std::nullopt};
    result.detail = {{"planned_windows", plan_.windows},
                     {"sent_windows", done.sent.windows},
                     {"received_windows", done.received.windows},
                     {"send_s", done.sent.seconds}};
    if (!done.one_way_s.empty()) {
      result.values[1] = median(done.one_way_s);
      result.detail["latency_batches"] = done.one_way_s.size();
      result.detail["latency_min_s"] = std::ranges::min(done.one_way_s);
      result.detail["latency_max_s"] = std::ranges::max(done.one_way_s);
    }
    return result;
  }

 private:
  struct Exchange {
    Transfer sent;
    Transfer received;
    std::vector<double> one_way_s;  // empty on the second member
  };

  // First to second, second to first, then latency. They meet before each, since the two threads
  // that measure may have been started some milliseconds apart.
  Exchange exchange(int windows, int batches) {
    Exchange done;
    link_.meet();
    if (link_.is_first()) {
      done.sent = link_.send();
      link_.meet();
      done.received = link_.receive(plan_.max_s, windows);
      link_.meet();
      done.one_way_s = link_.ping(plan_.max_s, batches, plan_.round_trips);
    } else {
      done.received = link_.receive(plan_.max_s, windows);
      link_.meet();
      done.sent = link_.send();
      link_.meet();
      link_.echo(plan_.round_trips);
    }
    return done;
  }

  PairPlan plan_;
  PairLink link_;
};

Json number(std::string_view type, const Json& fallback, const Json& minimum, const Json& maximum,
            std::string_view description) {
  return {{"type", type},
          {"default", fallback},
          {"minimum", minimum},
          {"maximum", maximum},
          {"description", description}};
}

Json pairs_schema() {
  const Json properties = {
      {"message_bytes", number("integer", 1 << 20, 1, 1 << 26, "bytes of one message")},
      {"window",
       number("integer", 8, 1, 64, "messages in flight before the receiver acknowledges them")},
      {"bytes", number("integer", 64LL << 20, 1, 1LL << 40,
                       "bytes to send in each direction, in whole windows, at least one")},
      {"max_s", number("number", 1.0, 0.001, 600,
                       "seconds after which a direction, and the latency test, stops early")},
      {"latency_bytes", number("integer", 8, 1, 1 << 20, "bytes of a ping")},
      {"latency_iterations", number("integer", 200, 1, 1000000,
                                    "round trips, in batches of 20; latency is the median of the "
                                    "batches' means")}};
  return {{"$schema", "http://json-schema.org/draft-07/schema#"},
          {"type", "object"},
          {"properties", properties},
          {"additionalProperties", false}};
}

MetricInfo bandwidth_metric() {
  return {.name = "bandwidth",
          .unit = "B/s",
          .better = Better::higher,
          .layer = Layer::network,
          .subject = SubjectKind::link,
          .symmetric = false,
          .description =
              "Rate from one node to another as osu_bw measures it: windows of MPI_Isend and "
              "MPI_Irecv, one acknowledgement a window, timed by the sender up to the last one.",
          .next_check =
              "On both ends: negotiated speed and lanes of the NIC (`ethtool IFACE`, `ibstat`), "
              "errors and drops (`ethtool -S IFACE`, `ip -s link`, `ibqueryerrors`), MTU on both "
              "ends and on the switch. Slow one way only: the sender's transmit side, the "
              "receiver's ring buffers, a damaged fibre. Then swap cable or transceiver, then the "
              "switch port; check that MPI took the intended NIC (`btl_tcp_if_include`, "
              "`UCX_NET_DEVICES`)."};
}

MetricInfo latency_metric() {
  return {.name = "latency",
          .unit = "s",
          .better = Better::lower,
          .layer = Layer::network,
          .subject = SubjectKind::link,
          .symmetric = true,
          .description =
              "One way time of a small message as osu_latency measures it: half of the round trip "
              "of MPI_Send and MPI_Recv, mean over 20 round trips, median of those. Measured under "
              "MPI_THREAD_MULTIPLE, which costs all nodes alike some 0.15 us a message.",
          .next_check =
              "Route and number of hops (`ibtracert`, `traceroute`), a detour by a failed uplink; "
              "retransmits and symbol errors (`nstat -az TcpRetransSegs`, `ibqueryerrors`); on the "
              "nodes: interrupt coalescing (`ethtool -c IFACE`), CPU power states and governor "
              "(`cpupower idle-info`), and whether the fast transport was taken at all (TCP in "
              "place of InfiniBand or RoCE)."};
}

class MpiPairs : public MpiProbe {
 public:
  ProbeInfo info() const override {
    return {.name = "mpi_pairs",
            .summary = "bandwidth each way and small-message latency between two nodes, over MPI",
            .layer = Layer::network,
            .participants = Participants::pair,
            .params_schema = pairs_schema()};
  }

  std::vector<MetricInfo> metrics(const Json& /*params*/) const override {
    return {bandwidth_metric(), latency_metric()};
  }

  std::unique_ptr<Prepared> prepare(const Json& params, const Json& /*work*/,
                                    const MpiGroup& group) const override {
    if (group.members.size() != 2) {
      throw NotAvailable("mpi_pairs takes two nodes, this slot has " +
                         std::to_string(group.members.size()));
    }
    auto prepared = std::make_unique<PreparedPair>(plan_of(params), group);
    prepared->verify_and_warm_up();
    return prepared;
  }
};

}  // namespace

std::unique_ptr<MpiProbe> make_mpi_pairs() { return std::make_unique<MpiPairs>(); }

}  // namespace fleetbench
