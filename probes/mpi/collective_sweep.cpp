#include "probes/mpi/collective_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "probes/mpi/mpi_call.hpp"

namespace fleetbench {
namespace {

// A false element as a message between members.
struct Witnessed {
  std::size_t entry = 0;
  ElementMismatch mismatch;
};

// To the nanosecond, which no clock here beats: the journal holds many of these.
double seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }

// To the picosecond: a mean over iterations may be told better than one of them.
double rounded_time(double time_s) { return std::round(time_s * 1e12) / 1e12; }

}  // namespace

CollectiveSweep::CollectiveSweep(SweepPlan plan, const MpiGroup& group)
    : plan_(std::move(plan)),
      ranks_(group.members),
      me_(static_cast<std::size_t>(group.me)),
      entries_([this] {
        std::vector<Entry> entries;
        for (const Collective* collective : plan_.collectives) {
          for (const std::size_t bytes : plan_.sweep.sizes_bytes) {
            const std::size_t count = collective->rule->count(bytes, ranks_.size());
            entries.push_back(
                {collective, bytes, count, collective->rule->bytes(count, ranks_.size())});
          }
        }
        return entries;
      }()),
      send_(largest_buffer(&Collective::send_count)),
      receive_(largest_buffer(&Collective::receive_count)),
      comm_(group) {}

// In the middle of a call others may never come to the end of it, nor to freeing the communicator,
// and MPI may still write to the buffers.
CollectiveSweep::~CollectiveSweep() {
  if (in_flight_) {
    comm_.abandon();
    send_.leak();
    receive_.leak();
  }
}

void CollectiveSweep::verify() {
  in_flight_ = true;
  const ExactData data(ranks_.size());
  std::vector<WrongElements> mine;
  for (const Entry& entry : entries_) {
    mine.push_back(check(entry, data));
  }
  agree(mine);
}

void CollectiveSweep::find_clock() {
  in_flight_ = true;
  clock_ = find_member_clock(comm_.get());
  in_flight_ = false;
}

Measurement CollectiveSweep::measure() {
  in_flight_ = true;
  Measurement result;
  result.detail = {{"members", ranks_.size()},
                   {"clock_offset_s", seconds(clock_.offset_ns)},
                   {"clock_uncertainty_s", seconds(clock_.uncertainty_ns)}};
  for (const char* list : {"bytes", "iterations", "time_s", "enter_s", "leave_s"}) {
    result.detail[list] = Json::array();
  }
  std::int64_t start_ns = clock_.now_ns();
  check_mpi(MPI_Bcast(&start_ns, 1, MPI_INT64_T, 0, comm_.get()), "MPI_Bcast of the start");
  for (const Entry& entry : entries_) {
    result.detail["bytes"].push_back(entry.bytes);
    if (entry.count == 0) {
      result.values.emplace_back(std::nullopt);
      for (const char* list : {"iterations", "time_s", "enter_s", "leave_s"}) {
        result.detail[list].push_back(nullptr);
      }
      continue;
    }
    const Timed timed = time_calls(entry);
    result.values.emplace_back(static_cast<double>(entry.bytes) / timed.time_s *
                               entry.collective->rule->busbw_factor(ranks_.size()));
    result.detail["iterations"].push_back(timed.iterations);
    result.detail["time_s"].push_back(rounded_time(timed.time_s));
    add_stamps(entry, start_ns, result.detail);
  }
  in_flight_ = false;
  return result;
}

std::size_t CollectiveSweep::largest_buffer(PartSize size) const {
  std::size_t largest = 0;
  for (const Entry& entry : entries_) {
    largest = std::max(largest, (entry.collective->*size)(entry.count, ranks_.size()));
  }
  return largest * sizeof(float);
}

std::span<float> CollectiveSweep::send_part(const Entry& entry) const {
  return send_.as<float>().first(entry.collective->send_count(entry.count, ranks_.size()));
}

std::span<float> CollectiveSweep::receive_part(const Entry& entry) const {
  return receive_.as<float>().first(entry.collective->receive_count(entry.count, ranks_.size()));
}

void CollectiveSweep::call(const Entry& entry) const {
  check_mpi(
      entry.collective->call(send_.as<float>().data(), receive_.as<float>().data(),
                             static_cast<int>(entry.count), static_cast<int>(me_), comm_.get()),
      entry.collective->mpi_call.c_str());
}

WrongElements CollectiveSweep::check(const Entry& entry, const ExactData& data) {
  if (entry.count == 0) {
    return {};
  }
  data.fill(send_part(entry), me_);
  std::ranges::fill(receive_part(entry), -1.0F);
  call(entry);
  return data.compare(*entry.collective, receive_part(entry), entry.count, me_);
}

// Throws where any member saw something wrong, on all of them.
void CollectiveSweep::agree(const std::vector<WrongElements>& mine) {
  std::vector<std::int64_t> counts;
  std::int64_t of_mine = 0;
  for (const WrongElements& wrong : mine) {
    counts.push_back(static_cast<std::int64_t>(wrong.count));
    of_mine += counts.back();
  }
  const int nobody = static_cast<int>(ranks_.size());
  const int candidate = of_mine > 0 ? static_cast<int>(me_) : nobody;
  int witness = nobody;
  check_mpi(MPI_Allreduce(&candidate, &witness, 1, MPI_INT, MPI_MIN, comm_.get()),
            "MPI_Allreduce of who saw a wrong element");
  if (witness == nobody) {
    return;
  }
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()), MPI_INT64_T,
                          MPI_SUM, comm_.get()),
            "MPI_Allreduce of wrong elements");
  Json bytes = Json::array();
  for (const Entry& entry : entries_) {
    bytes.push_back(entry.bytes);
  }
  const std::string words = describe(mine, witness);
  in_flight_ = false;  // all members are here, and nobody is in a call
  throw WrongResult(words,
                    {{"members", ranks_.size()}, {"bytes", std::move(bytes)}, {"wrong", counts}});
}

// The first false element of the witness, in the same words on all members.
std::string CollectiveSweep::describe(const std::vector<WrongElements>& mine, int witness) const {
  Witnessed wrong;
  const auto found =
      std::ranges::find_if(mine, [](const WrongElements& entry) { return entry.count > 0; });
  if (found != mine.end()) {
    wrong = {static_cast<std::size_t>(found - mine.begin()), *found->first};
  }
  check_mpi(MPI_Bcast(&wrong, sizeof wrong, MPI_BYTE, witness, comm_.get()),
            "MPI_Bcast of a wrong element");
  const Entry& entry = entries_.at(wrong.entry);
  return fmt::format(
      "mpi_collectives: {} of {} bytes over {} ranks: element {} on rank {} is {}, expected {}",
      entry.collective->rule->name, entry.bytes, ranks_.size(), wrong.mismatch.element,
      ranks_.at(static_cast<std::size_t>(witness)), wrong.mismatch.got, wrong.mismatch.expected);
}

double CollectiveSweep::loop_s(const Entry& entry, int iterations) const {
  check_mpi(MPI_Barrier(comm_.get()), "MPI_Barrier");
  const Stopwatch watch;
  for (int i = 0; i < iterations; ++i) {
    call(entry);
  }
  return watch.elapsed_s();
}

CollectiveSweep::Timed CollectiveSweep::time_calls(const Entry& entry) const {
  const double warmup_s = loop_s(entry, plan_.sweep.warmup);
  Timed timed;
  timed.iterations =
      iterations_that_fit(warmup_s, plan_.sweep.warmup, plan_.sweep.max_s, plan_.sweep.iterations);
  check_mpi(MPI_Bcast(&timed.iterations, 1, MPI_INT, 0, comm_.get()),
            "MPI_Bcast of the number of iterations");
  timed.time_s = loop_s(entry, timed.iterations) / timed.iterations;
  return timed;
}

// In a call of its own, so that looking at the clock costs the timed ones nothing.
void CollectiveSweep::add_stamps(const Entry& entry, std::int64_t start_ns, Json& detail) const {
  check_mpi(MPI_Barrier(comm_.get()), "MPI_Barrier");
  const std::int64_t enter_ns = clock_.now_ns();
  call(entry);
  const std::int64_t leave_ns = clock_.now_ns();
  detail["enter_s"].push_back(seconds(enter_ns - start_ns));
  detail["leave_s"].push_back(seconds(leave_ns - start_ns));
}

}  // namespace fleetbench
