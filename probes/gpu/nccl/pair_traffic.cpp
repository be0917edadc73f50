#include "probes/gpu/nccl/pair_traffic.hpp"

#include <fmt/format.h>

#include <utility>

#include "probes/gpu/nccl/call_group.hpp"
#include "probes/gpu/pattern.hpp"
#include "probes/probe.hpp"
#include "probes/support/collective_params.hpp"

namespace fleetbench::gpu::nccl {
namespace {

constexpr int kWarmUpBatches = 2;

// Of what one rank sends another, so that a message of somebody else is seen.
std::uint32_t seed_of(std::size_t from, std::size_t to) {
  return mixed(0xF1EE7U, (static_cast<std::uint64_t>(from) << 32U) | to);
}

const char* words_for(PairTraffic::Way way) {
  switch (way) {
    case PairTraffic::Way::there:
      return "from the first to the second node";
    case PairTraffic::Way::back:
      return "from the second to the first node";
    case PairTraffic::Way::both:
      return "both ways";
  }
  throw std::logic_error("a way without words");
}

}  // namespace

PairTraffic::PairTraffic(Session& session, const PairSides& sides, const PairPlan& plan,
                         PairBuffers& buffers)
    : session_(session),
      sides_(sides),
      plan_(plan),
      buffers_(buffers),
      me_(session.communicator.place().index),
      peer_(sides.peer_of(me_)) {}

bool PairTraffic::sends(Way way) const {
  return way == Way::both || sides_.is_first(me_) == (way == Way::there);
}

bool PairTraffic::receives(Way way) const { return way == Way::both || !sends(way); }

void PairTraffic::message(Way way, std::size_t bytes) {
  CallGroup group(session_.communicator, session_.stream.get());
  if (sends(way)) {
    group.send(buffers_.outgoing.get(), bytes, ncclInt8, peer_);
  }
  if (receives(way)) {
    group.receive(buffers_.incoming.get(), bytes, ncclInt8, peer_);
  }
  group.end();
}

void PairTraffic::round_trip() {
  message(Way::there, plan_.latency_bytes);
  message(Way::back, plan_.latency_bytes);
}

void PairTraffic::verify() {
  const std::size_t bytes = plan_.message_bytes;
  Pattern pattern(session_.communicator.gpu());
  pattern.fill(buffers_.outgoing.get(), bytes, seed_of(me_, peer_));
  pattern.fill(buffers_.incoming.get(), bytes, seed_of(me_, me_));
  for (const Way way : {Way::there, Way::back}) {
    session_.loop.run({.phase = fmt::format("the check of a message {}", words_for(way)),
                       .calls = 1,
                       .bytes = bytes},
                      [&] { message(way, bytes); });
  }
  agree(pattern.wrong_words(buffers_.incoming.get(), bytes, seed_of(peer_, me_)));
}

void PairTraffic::agree(std::uint64_t wrong_words) {
  session_.communicator.progress() = {.phase = "agreeing on what was wrong"};
  const Place& place = session_.communicator.place();
  const auto rows = session_.exchange.each_row({static_cast<std::int64_t>(wrong_words)});
  std::vector<std::int64_t> counts;
  std::string text;
  for (std::size_t rank = 0; rank < place.size(); ++rank) {
    counts.push_back(rows[rank].empty() ? 0 : rows[rank][0]);
    if (rows[rank].empty() || counts.back() > 0) {
      text += fmt::format("{}{} to {}: {}", text.empty() ? "" : "; ",
                          place.name_of(sides_.peer_of(rank)), place.name_of(rank),
                          rows[rank].empty()
                              ? "what came of the check is damaged"
                              : fmt::format("{} of {} words are false", counts.back(),
                                            plan_.message_bytes / sizeof(std::uint32_t)));
    }
  }
  if (!text.empty()) {
    session_.communicator.finish();
    throw WrongResult("nccl_pairs: " + text, {{"members", place.size()}, {"wrong", counts}});
  }
}

PairTraffic::Transfer PairTraffic::transfer(Way way) {
  const std::size_t bytes = plan_.message_bytes;
  const auto send = [&] { message(way, bytes); };
  const auto phase = fmt::format("messages of {} {}", size_text(bytes), words_for(way));
  const double warmup_s = session_.exchange.largest(session_.loop.run(
      {.phase = phase + " (warm-up)", .calls = plan_.warmup, .bytes = bytes}, send));
  Transfer done;
  done.messages = iterations_that_fit(warmup_s, plan_.warmup, plan_.max_s, plan_.messages);
  done.seconds = session_.loop.run(
      {.phase = phase, .calls = done.messages, .bytes = bytes, .lead_in = 1}, send);
  done.rank_s = session_.exchange.each(done.seconds);
  return done;
}

std::vector<double> PairTraffic::latency() {
  const auto batch_s = [&] {
    session_.exchange.meet();
    return session_.loop.run(
        {.phase = fmt::format("round trips of {}", size_text(plan_.latency_bytes)),
         .calls = plan_.round_trips,
         .bytes = plan_.latency_bytes,
         .lead_in = 1},
        [&] { round_trip(); });
  };
  double warmup_s = 0;
  for (int i = 0; i < kWarmUpBatches; ++i) {
    warmup_s += batch_s();
  }
  const int batches = iterations_that_fit(session_.exchange.largest(warmup_s), kWarmUpBatches,
                                          plan_.max_s, plan_.batches);
  std::vector<double> one_way_s;
  for (int i = 0; i < batches; ++i) {
    one_way_s.push_back(batch_s() / (2.0 * plan_.round_trips));
  }
  return one_way_s;
}

}  // namespace fleetbench::gpu::nccl
