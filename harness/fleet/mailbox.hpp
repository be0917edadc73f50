// JSON messages between ranks. Nothing here ever blocks: a message to a rank that is gone stays
// unsent, a message from one never arrives.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "results-schema/metric.hpp"

namespace fleetbench::fleet {

struct Envelope {
  int from = 0;
  Json message;
};

class Mailbox {
 public:
  // Two mailboxes on one communicator need different tags: incoming messages carry `tag_in`,
  // outgoing ones `tag_out`.
  Mailbox(MPI_Comm comm, int tag_in, int tag_out) : comm_(comm), in_(tag_in), out_(tag_out) {}
  // Requests that are still open stay with MPI and their buffers stay allocated: MPI may use them.
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  void send(int to, const Json& message);
  // The next message that has arrived whole. A message that is not JSON is dropped.
  std::optional<Envelope> receive();
  // True where everything sent has left this process.
  bool all_sent();

 private:
  using Bytes = std::vector<std::uint8_t>;
  struct Transfer {
    MPI_Request request = MPI_REQUEST_NULL;
    Bytes bytes;
    int peer = 0;
  };

  void accept_new();
  void forget_sent();

  MPI_Comm comm_;
  int in_;
  int out_;
  std::list<Transfer> sending_;
  std::list<Transfer> receiving_;
};

}  // namespace fleetbench::fleet
