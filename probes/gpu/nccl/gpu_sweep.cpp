#include "probes/gpu/nccl/gpu_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "probes/gpu/nccl/exact_check.hpp"
#include "probes/gpu/nccl/told_facts.hpp"
#include "probes/gpu/nvtx_range.hpp"

namespace fleetbench::gpu::nccl {
namespace {

// How many are wrong; of the first its place, what came and what should have.
constexpr std::size_t kNumbersPerEntry = 4;
constexpr const char* kLists[] = {"iterations", "time_s", "enter_s", "leave_s"};

// To the nanosecond: the journal holds many of these.
double seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }

// To the picosecond: a mean over iterations may be told better than one of them.
double rounded_time(double time_s) { return std::round(time_s * 1e12) / 1e12; }

std::vector<std::int64_t> row_of(const std::vector<WrongElements>& entries) {
  std::vector<std::int64_t> row;
  for (const WrongElements& wrong : entries) {
    const ElementMismatch first = wrong.first.value_or(ElementMismatch());
    row.insert(
        row.end(),
        {static_cast<std::int64_t>(wrong.count), static_cast<std::int64_t>(first.element),
         std::bit_cast<std::int32_t>(first.got), std::bit_cast<std::int32_t>(first.expected)});
  }
  return row;
}

}  // namespace

GpuSweep::GpuSweep(const Gpu& gpu, Place place, GpuSweepPlan plan, DebugLog& log)
    : gpu_(gpu),
      place_(std::move(place)),
      plan_(std::move(plan)),
      log_(log),
      entries_(entries()),
      send_(gpu, largest_buffer(&CollectiveShape::send_count)),
      receive_(gpu, largest_buffer(&CollectiveShape::receive_count)),
      side_stream_(gpu) {
  if (place_.index == 0) {
    own_invitation_ = to_hex(new_unique_id());
  }
}

std::string GpuSweep::invitation() { return own_invitation_; }

void GpuSweep::accept(const std::string& invitation) { id_ = unique_id_from(invitation); }

std::vector<GpuSweep::Entry> GpuSweep::entries() const {
  std::vector<Entry> entries;
  for (const GpuCollective* collective : plan_.collectives) {
    const CollectiveRule& rule = *collective->rule;
    for (const std::size_t wanted : plan_.sweep.sizes_bytes) {
      const std::size_t count = wanted > plan_.most_bytes ? 0 : rule.count(wanted, place_.size());
      const std::size_t bytes = rule.bytes(count, place_.size());
      entries.push_back(
          {collective, count, bytes, fmt::format("{} of {}", rule.name, size_text(bytes))});
    }
  }
  return entries;
}

std::size_t GpuSweep::largest_buffer(PartSize size) const {
  std::size_t largest = 1;
  for (const Entry& entry : entries_) {
    largest = std::max(largest, (entry.collective->*size)(entry.count, place_.size()));
  }
  return largest * sizeof(float);
}

Measurement GpuSweep::measure() {
  if (!id_) {
    throw std::runtime_error("nobody invited this rank to the communicator");
  }
  const NvtxRange range("nccl_collectives");
  gpu_.select();
  log_.take();
  Session session(gpu_, place_, *std::exchange(id_, std::nullopt), plan_.limits);
  session.communicator.allow_longer(plan_.sweep.max_s);
  verify(session);
  GroupClock clock(session);
  Measurement result;
  result.detail = {{"members", place_.size()},
                   {"clock_offset_s", seconds(clock.host().offset_ns)},
                   {"bytes", Json::array()}};
  for (const char* list : kLists) {
    result.detail[list] = Json::array();
  }
  const bool is_first = place_.index == 0;
  const std::int64_t start_ns =
      session.exchange.sum({is_first ? clock.host().now_ns() : 0}).front();
  for (const Entry& entry : entries_) {
    add_entry(session, clock, entry, start_ns, result);
  }
  result.detail["clock_uncertainty_s"] = seconds(clock.uncertainty_ns());
  add_told_facts(session, log_, measured_calls(), result.detail);
  session.communicator.finish();
  return result;
}

void GpuSweep::enqueue(Session& session, const Entry& entry) const {
  entry.collective->enqueue(session.communicator, send_.as<float>(), receive_.as<float>(),
                            entry.count, session.stream.get());
}

void GpuSweep::verify(Session& session) const {
  ExactCheck check(gpu_, place_.size());
  std::vector<WrongElements> mine;
  for (const Entry& entry : entries_) {
    if (entry.count == 0) {
      mine.emplace_back();
      continue;
    }
    const GpuCollective& collective = *entry.collective;
    check.fill(send_.as<float>(), collective.send_count(entry.count, place_.size()), place_.index);
    check.clear(receive_.as<float>(), collective.receive_count(entry.count, place_.size()));
    session.loop.run({.phase = "the check of " + entry.name, .calls = 1, .bytes = entry.bytes},
                     [&] { enqueue(session, entry); });
    mine.push_back(check.compare(collective, receive_.as<float>(), entry.count, place_.index));
  }
  agree(session, mine);
}

// Throws where any rank saw something wrong, on all of them: of each entry how many elements, and
// the first false one, go to everybody.
void GpuSweep::agree(Session& session, const std::vector<WrongElements>& mine) const {
  session.communicator.progress() = {.phase = "agreeing on what was wrong"};
  const auto rows = session.exchange.each_row(row_of(mine));
  std::vector<std::int64_t> counts(entries_.size(), 0);
  std::string words;
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    for (std::size_t i = 0; i < counts.size() && !rows[rank].empty(); ++i) {
      const std::int64_t* const row = &rows[rank][i * kNumbersPerEntry];
      counts[i] += row[0];
      if (row[0] > 0 && words.empty()) {
        words = describe(entries_[i], rank, row);
      }
    }
    if (rows[rank].empty() && words.empty()) {
      words = fmt::format("nccl_collectives: what {} told of its check came damaged to {}",
                          place_.name_of(rank), place_.own_name());
    }
  }
  if (words.empty()) {
    return;
  }
  Json bytes = Json::array();
  for (const Entry& entry : entries_) {
    bytes.push_back(entry.bytes);
  }
  session.communicator.finish();
  throw WrongResult(words,
                    {{"members", place_.size()}, {"bytes", std::move(bytes)}, {"wrong", counts}});
}

std::string GpuSweep::describe(const Entry& entry, std::size_t witness,
                               const std::int64_t* row) const {
  const auto number = [row](std::size_t i) {
    return std::bit_cast<float>(static_cast<std::int32_t>(row[i]));
  };
  return fmt::format("nccl_collectives: {}: element {} on {} is {}, expected {}", entry.name,
                     row[1], place_.name_of(witness), number(2), number(3));
}

GpuSweep::Timed GpuSweep::time_calls(Session& session, const Entry& entry) const {
  const auto call = [&] { enqueue(session, entry); };
  const auto phase = [&](const char* of) { return fmt::format("{} ({})", entry.name, of); };
  const SweepParams& sweep = plan_.sweep;
  const double warmup_s = session.exchange.largest(session.loop.run(
      {.phase = phase("warm-up"), .calls = sweep.warmup, .bytes = entry.bytes}, call));
  const int iterations = iterations_that_fit(warmup_s, sweep.warmup, sweep.max_s, sweep.iterations);
  const double loop_s =
      session.loop.run({.phase = entry.name, .calls = iterations, .bytes = entry.bytes}, call);
  return {iterations, loop_s / iterations};
}

void GpuSweep::add_entry(Session& session, GroupClock& clock, const Entry& entry,
                         std::int64_t start_ns, Measurement& result) const {
  result.detail["bytes"].push_back(entry.bytes);
  if (entry.count == 0) {
    result.values.emplace_back(std::nullopt);
    for (const char* list : kLists) {
      result.detail[list].push_back(nullptr);
    }
    return;
  }
  const Timed timed = time_calls(session, entry);
  result.values.emplace_back(static_cast<double>(entry.bytes) / timed.time_s *
                             entry.collective->rule->busbw_factor(place_.size()));
  result.detail["iterations"].push_back(timed.iterations);
  result.detail["time_s"].push_back(rounded_time(timed.time_s));
  add_stamps(session, clock, entry, start_ns, result.detail);
}

// In a call of its own, so that the stamps cost the timed ones nothing. A rank is in it when its
// stream has come to the call and its host has handed the call over, which an event of a stream
// that has nothing else to do shows.
void GpuSweep::add_stamps(Session& session, GroupClock& clock, const Entry& entry,
                          std::int64_t start_ns, Json& detail) const {
  const Event came(gpu_);
  const Event handed_over(gpu_);
  const Event left(gpu_);
  const auto record = [this](const Event& event, const Stream& stream) {
    gpu_.check(cudaEventRecord(event.get(), stream.get()), "cudaEventRecord");
  };
  session.communicator.progress() = {.phase = entry.name + " (stamped)", .calls = 1, .done = 0};
  clock.anchor();
  record(came, session.stream);
  enqueue(session, entry);
  record(handed_over, side_stream_);
  record(left, session.stream);
  session.communicator.wait(left);
  session.communicator.wait(handed_over);
  const std::int64_t leave_ns = clock.time_of(left);
  const std::int64_t enter_ns =
      std::min(std::max(clock.time_of(came), clock.time_of(handed_over)), leave_ns);
  detail["enter_s"].push_back(seconds(enter_ns - start_ns));
  detail["leave_s"].push_back(seconds(leave_ns - start_ns));
}

MeasuredCalls GpuSweep::measured_calls() const {
  MeasuredCalls calls;
  for (const Entry& entry : entries_) {
    if (entry.count > 0) {
      calls[std::string(entry.collective->rule->name)][entry.count * sizeof(float)] = entry.bytes;
    }
  }
  return calls;
}

}  // namespace fleetbench::gpu::nccl
