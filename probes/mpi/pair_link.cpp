#include "probes/mpi/pair_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "probes/mpi/mpi_call.hpp"
#include "probes/mpi/pattern.hpp"

namespace fleetbench {
namespace {

// Added to the tag of the slot.
enum TagOffset { kData = 0, kAcknowledge = 1, kPing = 2, kControl = 3, kMeet = 4, kVerdict = 5 };

// What a receiver found, as a message: the offset of the first wrong byte or -1.
struct Verdict {
  std::int64_t offset = -1;
  std::int64_t expected = 0;
  std::int64_t got = 0;
};

Verdict inspect(std::span<const std::byte> bytes, std::uint64_t seed) {
  const auto mismatch = first_mismatch(bytes, seed);
  if (!mismatch) {
    return {};
  }
  return {static_cast<std::int64_t>(mismatch->offset),
          std::to_integer<std::int64_t>(mismatch->expected),
          std::to_integer<std::int64_t>(mismatch->got)};
}

void describe(std::string& text, const Verdict& verdict, std::size_t bytes, int from, int to) {
  if (verdict.offset >= 0) {
    text += fmt::format("{}rank {} to rank {}: byte {} of {} is 0x{:02x}, expected 0x{:02x}",
                        text.empty() ? "" : "; ", from, to, verdict.offset, bytes, verdict.got,
                        verdict.expected);
  }
}

}  // namespace

PairLink::PairLink(const MpiGroup& group, const PairShape& shape)
    : world_(group.world),
      tag_(group.tag),
      rank_(group.members.at(static_cast<std::size_t>(group.me))),
      peer_(group.members.at(static_cast<std::size_t>(1 - group.me))),
      is_first_(group.me == 0),
      shape_(shape),
      outgoing_(std::max(shape.window_bytes(), shape.latency_bytes)),
      incoming_(std::max(shape.window_bytes(), shape.latency_bytes)),
      requests_(static_cast<std::size_t>(shape.window), MPI_REQUEST_NULL) {
  fill_pattern(outgoing_.bytes(), pattern_seed(rank_, peer_));
}

PairLink::~PairLink() {
  if (in_flight_) {
    outgoing_.leak();
    incoming_.leak();
  }
}

std::uint64_t PairLink::pattern_seed(int from, int to) const {
  return (static_cast<std::uint64_t>(from) << 32) | static_cast<std::uint32_t>(to);
}

void PairLink::meet() {
  char mine = 0;
  char theirs = 0;
  check_mpi(MPI_Sendrecv(&mine, 1, MPI_CHAR, peer_, tag_ + kMeet, &theirs, 1, MPI_CHAR, peer_,
                         tag_ + kMeet, world_, MPI_STATUS_IGNORE),
            "MPI_Sendrecv with rank", peer_);
}

void PairLink::send_window() {
  const int bytes = static_cast<int>(shape_.message_bytes);
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    check_mpi(MPI_Isend(outgoing_.data() + i * shape_.message_bytes, bytes, MPI_BYTE, peer_,
                        tag_ + kData, world_, &requests_[i]),
              "MPI_Isend to rank", peer_);
  }
  check_mpi(MPI_Waitall(shape_.window, requests_.data(), MPI_STATUSES_IGNORE),
            "MPI_Waitall of messages to rank", peer_);
}

void PairLink::receive_window() {
  const int bytes = static_cast<int>(shape_.message_bytes);
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    check_mpi(MPI_Irecv(incoming_.data() + i * shape_.message_bytes, bytes, MPI_BYTE, peer_,
                        tag_ + kData, world_, &requests_[i]),
              "MPI_Irecv from rank", peer_);
  }
  check_mpi(MPI_Waitall(shape_.window, requests_.data(), MPI_STATUSES_IGNORE),
            "MPI_Waitall of messages from rank", peer_);
}

Transfer PairLink::send() {
  in_flight_ = true;
  Transfer done;
  char more = 1;
  const Stopwatch watch;
  while (more != 0) {
    send_window();
    check_mpi(MPI_Recv(&more, 1, MPI_CHAR, peer_, tag_ + kAcknowledge, world_, MPI_STATUS_IGNORE),
              "MPI_Recv of an acknowledgement from rank", peer_);
    ++done.windows;
  }
  done.seconds = watch.elapsed_s();
  in_flight_ = false;
  return done;
}

Transfer PairLink::receive(double max_s, int max_windows) {
  in_flight_ = true;
  Transfer done;
  char more = 1;
  const Stopwatch watch;
  while (more != 0) {
    receive_window();
    ++done.windows;
    more = done.windows < max_windows && watch.elapsed_s() < max_s;
    check_mpi(MPI_Send(&more, 1, MPI_CHAR, peer_, tag_ + kAcknowledge, world_),
              "MPI_Send of an acknowledgement to rank", peer_);
  }
  done.seconds = watch.elapsed_s();
  in_flight_ = false;
  return done;
}

std::vector<double> PairLink::ping(double max_s, int batches, int round_trips) {
  in_flight_ = true;
  const int bytes = static_cast<int>(shape_.latency_bytes);
  std::vector<double> one_way_s;
  one_way_s.reserve(static_cast<std::size_t>(batches));
  char more = 1;
  const Stopwatch total;
  while (more != 0) {
    const Stopwatch batch;
    for (int i = 0; i < round_trips; ++i) {
      check_mpi(MPI_Send(outgoing_.data(), bytes, MPI_BYTE, peer_, tag_ + kPing, world_),
                "MPI_Send of a ping to rank", peer_);
      check_mpi(MPI_Recv(incoming_.data(), bytes, MPI_BYTE, peer_, tag_ + kPing, world_,
                         MPI_STATUS_IGNORE),
                "MPI_Recv of an echo from rank", peer_);
    }
    one_way_s.push_back(batch.elapsed_s() / (2.0 * round_trips));
    more = static_cast<int>(one_way_s.size()) < batches && total.elapsed_s() < max_s;
    check_mpi(MPI_Send(&more, 1, MPI_CHAR, peer_, tag_ + kControl, world_),
              "MPI_Send of a control message to rank", peer_);
  }
  in_flight_ = false;
  return one_way_s;
}

void PairLink::echo(int round_trips) {
  in_flight_ = true;
  const int bytes = static_cast<int>(shape_.latency_bytes);
  char more = 1;
  while (more != 0) {
    for (int i = 0; i < round_trips; ++i) {
      check_mpi(MPI_Recv(incoming_.data(), bytes, MPI_BYTE, peer_, tag_ + kPing, world_,
                         MPI_STATUS_IGNORE),
                "MPI_Recv of a ping from rank", peer_);
      check_mpi(MPI_Send(outgoing_.data(), bytes, MPI_BYTE, peer_, tag_ + kPing, world_),
                "MPI_Send of an echo to rank", peer_);
    }
    check_mpi(MPI_Recv(&more, 1, MPI_CHAR, peer_, tag_ + kControl, world_, MPI_STATUS_IGNORE),
              "MPI_Recv of a control message from rank", peer_);
  }
  in_flight_ = false;
}

std::optional<std::string> PairLink::verify() {
  in_flight_ = true;
  if (is_first_) {
    send_window();
    receive_window();
  } else {
    receive_window();
    send_window();
  }
  const Verdict mine =
      inspect(incoming_.bytes().first(shape_.window_bytes()), pattern_seed(peer_, rank_));
  Verdict theirs;
  check_mpi(
      MPI_Sendrecv(&mine, sizeof mine, MPI_BYTE, peer_, tag_ + kVerdict, &theirs, sizeof theirs,
                   MPI_BYTE, peer_, tag_ + kVerdict, world_, MPI_STATUS_IGNORE),
      "MPI_Sendrecv of what was received with rank", peer_);
  in_flight_ = false;

  const auto [first, second] = is_first_ ? std::pair(rank_, peer_) : std::pair(peer_, rank_);
  std::string text;
  describe(text, is_first_ ? theirs : mine, shape_.window_bytes(), first, second);
  describe(text, is_first_ ? mine : theirs, shape_.window_bytes(), second, first);
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace fleetbench
