// The traffic between the two members of a pair, in blocking MPI calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "probes/mpi/mpi_probe.hpp"
#include "probes/support/pages.hpp"

namespace fleetbench {

struct PairShape {
  std::size_t message_bytes = 0;
  int window = 0;  // messages in flight
  std::size_t latency_bytes = 0;

  std::size_t window_bytes() const { return message_bytes * static_cast<std::size_t>(window); }
};

struct Transfer {
  int windows = 0;
  double seconds = 0;
};

// A call on one end returns when its counterpart (send and receive, ping and echo; meet and
// verify with themselves) ran on the other, and blocks for ever where there is none. Throws
// std::runtime_error when MPI reports an error; the link is of no use after that, and its buffers
// are leaked rather than unmapped under a transfer that may still be going on.
class PairLink {
 public:
  PairLink(const MpiGroup& group, const PairShape& shape);
  ~PairLink();
  PairLink(const PairLink&) = delete;
  PairLink& operator=(const PairLink&) = delete;

  bool is_first() const { return is_first_; }

  // Both ends leave at the same time, to within a message.
  void meet();

  // As osu_bw: each window is `window` messages in flight at once, then one acknowledgement. The
  // acknowledgement says whether another window follows: none after `max_windows`, nor once `max_s`
  // have passed on the receiver's clock. So both ends stop at the same window, of which there is at
  // least one, and at no cost in messages. Timed from the first send to the last acknowledgement.
  Transfer send();
  Transfer receive(double max_s, int max_windows);

  // As osu_latency, in batches: the seconds of a message one way (half of a round trip, mean over a
  // batch) of each batch. After each, ping() tells echo() whether another follows: none after
  // `batches`, nor once `max_s` have passed; at least one is done.
  std::vector<double> ping(double max_s, int batches, int round_trips);
  void echo(int round_trips);

  // Sends one window each way, untimed, and looks at every byte. What was wrong, in words, the same
  // on both ends; nothing where all was right.
  std::optional<std::string> verify();

 private:
  void send_window();
  void receive_window();
  std::uint64_t pattern_seed(int from, int to) const;

  MPI_Comm world_;
  int tag_;
  int rank_;
  int peer_;
  bool is_first_;
  PairShape shape_;
  Pages outgoing_;
  Pages incoming_;
  std::vector<MPI_Request> requests_;
  bool in_flight_ = false;
};

}  // namespace fleetbench
