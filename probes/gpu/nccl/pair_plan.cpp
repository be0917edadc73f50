#include "probes/gpu/nccl/pair_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "probes/probe.hpp"

namespace fleetbench::gpu::nccl {
namespace {

// Often enough that a capped run stops soon, seldom enough that what begins and ends a batch is
// lost in it.
constexpr int kRoundTripsPerBatch = 20;

}  // namespace

PairSides::PairSides(const Place& place) : pairs_(place.size() / 2) {
  const auto node_of = [&place](std::size_t rank) { return place.ranks[rank].node; };
  bool are_halves = place.size() >= 2 && place.size() % 2 == 0;
  for (std::size_t rank = 0; are_halves && rank < place.size(); ++rank) {
    are_halves = node_of(rank) == node_of(is_first(rank) ? 0 : pairs_);
  }
  if (!are_halves) {
    throw NotAvailable(fmt::format(
        "nccl_pairs takes as many GPUs of one node as of another, this slot has {} that are not",
        place.size()));
  }
}

double PairSides::rate(double bytes, const std::vector<double>& rank_s) const {
  double sum = 0;
  for (std::size_t rank = 0; rank < pairs_; ++rank) {
    sum += bytes / std::max(rank_s.at(rank), rank_s.at(peer_of(rank)));
  }
  return sum;
}

Json pair_properties() {
  return Json::parse(R"({
    "message_bytes": {
      "description": "bytes of one message, which is one ncclSend",
      "type": "integer", "minimum": 4, "maximum": 8589934592, "multipleOf": 4, "default": 33554432
    },
    "bytes": {
      "description": "bytes to send in each direction, in whole messages, at least one",
      "type": "integer", "minimum": 1, "maximum": 1099511627776, "default": 536870912
    },
    "warmup": {
      "description": "messages in each direction before those that are timed",
      "type": "integer", "minimum": 1, "maximum": 1000, "default": 2
    },
    "max_s": {
      "description": "seconds that a direction, and the latency test, may take: fewer messages are sent where the warm-up says that they would take longer, at least one",
      "type": "number", "minimum": 0.001, "maximum": 600, "default": 1.0
    },
    "latency_bytes": {
      "description": "bytes of a ping",
      "type": "integer", "minimum": 1, "maximum": 1048576, "default": 8
    },
    "latency_iterations": {
      "description": "round trips, in batches of 20; latency is the median of the batches' means",
      "type": "integer", "minimum": 1, "maximum": 1000000, "default": 200
    }
  })");
}

PairPlan pair_plan_from(const Json& params) {
  PairPlan plan;
  plan.message_bytes = params.at("message_bytes").get<std::size_t>();
  plan.messages = static_cast<int>(std::clamp<std::size_t>(
      params.at("bytes").get<std::size_t>() / plan.message_bytes, 1, 1'000'000));
  plan.warmup = params.at("warmup").get<int>();
  plan.latency_bytes = params.at("latency_bytes").get<std::size_t>();
  const int iterations = params.at("latency_iterations").get<int>();
  plan.round_trips = std::min(kRoundTripsPerBatch, iterations);
  plan.batches = (iterations + plan.round_trips - 1) / plan.round_trips;
  plan.max_s = params.at("max_s").get<double>();
  return plan;
}

}  // namespace fleetbench::gpu::nccl
