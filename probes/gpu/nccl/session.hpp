// What the ranks of one measurement need to speak with each other, from the communicator's first
// moment to its last.
#pragma once

#include "probes/gpu/nccl/call_loop.hpp"
#include "probes/gpu/nccl/exchange.hpp"

namespace fleetbench::gpu::nccl {

struct Session {
  // Constructed by all ranks at about the same time. Throws what Communicator throws.
  Session(const Gpu& gpu, const Place& place, const ncclUniqueId& id, WaitLimits limits)
      : stream(gpu),
        communicator(gpu, place, id, limits),
        exchange(communicator, stream),
        loop(communicator, stream) {}
  // Memory can be freed only once nothing is under way.
  ~Session() { communicator.abort(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Stream stream;
  Communicator communicator;
  Exchange exchange;
  CallLoop loop;
};

// The parameters of the limits, as properties of a JSON schema, and read from it.
Json limit_properties();
WaitLimits limits_from(const Json& params);

}  // namespace fleetbench::gpu::nccl
