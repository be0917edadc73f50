// The packets between ranks and hub, as values.
#pragma once

#include "tests/gpu_sim/nccl/nccl_error.hpp"
#include "tests/gpu_sim/nccl/switchboard.hpp"

namespace gpu_sim::nccl {

struct Hello {
  int rank = 0;
  int ranks = 0;
  Member member;
};

Bytes written(const Hello& hello);
Hello hello_of(const Packet& packet);

Bytes written(const std::vector<Member>& members);
std::vector<Member> members_of(const Packet& packet);

// The inputs go as the packet's data. `ranks` tells how long each is.
Bytes written(const Arrival& arrival);
Arrival arrival_of(const Packet& packet, int rank, int ranks);

// The outputs go as the packet's data.
Bytes written(const Departure& departure);
Departure departure_of(const Packet& packet);

Bytes written(const NcclError& error);
NcclError error_of(const Packet& packet);

}  // namespace gpu_sim::nccl
