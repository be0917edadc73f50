#include "harness/fleet/mailbox.hpp"

#include <utility>

namespace fleetbench::fleet {
namespace {

bool complete(MPI_Request& request) {
  int done = 0;
  return MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
}

}  // namespace

Mailbox::~Mailbox() {
  for (auto* transfers : {&sending_, &receiving_}) {
    for (auto& transfer : *transfers) {
      if (!complete(transfer.request)) {
        new Bytes(std::move(transfer.bytes));  // given to MPI for good
      }
    }
  }
}

void Mailbox::send(int to, const Json& message) {
  forget_sent();
  auto& transfer = sending_.emplace_back();
  transfer.bytes = Json::to_cbor(message);
  transfer.peer = to;
  MPI_Isend(transfer.bytes.data(), static_cast<int>(transfer.bytes.size()), MPI_BYTE, to, out_,
            comm_, &transfer.request);
}

std::optional<Envelope> Mailbox::receive() {
  accept_new();
  forget_sent();
  for (auto transfer = receiving_.begin(); transfer != receiving_.end();) {
    if (!complete(transfer->request)) {
      ++transfer;
      continue;
    }
    Envelope envelope{transfer->peer, Json::from_cbor(transfer->bytes, true, false)};
    transfer = receiving_.erase(transfer);
    if (!envelope.message.is_discarded()) {
      return envelope;
    }
  }
  return std::nullopt;
}

void Mailbox::accept_new() {
  while (true) {
    int found = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    if (MPI_Improbe(MPI_ANY_SOURCE, in_, comm_, &found, &message, &status) != MPI_SUCCESS ||
        found == 0) {
      return;
    }
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    auto& transfer = receiving_.emplace_back();
    transfer.bytes.resize(static_cast<std::size_t>(count));
    transfer.peer = status.MPI_SOURCE;
    MPI_Imrecv(transfer.bytes.data(), count, MPI_BYTE, &message, &transfer.request);
  }
}

void Mailbox::forget_sent() {
  sending_.remove_if([](Transfer& transfer) { return complete(transfer.request); });
}

bool Mailbox::all_sent() {
  forget_sent();
  return sending_.empty();
}

}  // namespace fleetbench::fleet
