// Calls of NCCL one after another on a stream, and what they take by the device's clock.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "probes/gpu/nccl/communicator.hpp"

namespace fleetbench::gpu::nccl {

struct Loop {
  std::string phase;  // of the communicator's progress
  int calls = 1;
  // Of one call: of large ones each is told when it is done, of small ones that would cost too
  // much.
  std::size_t bytes = 0;
  // Calls before the first that is timed, so that those who come a little later than others are
  // there.
  int lead_in = 0;
};

class CallLoop {
 public:
  // Both outlive it.
  CallLoop(Communicator& communicator, const Stream& stream);

  // Makes the calls, each enqueued on the stream by `call`, and waits for all of them. Seconds from
  // when the stream came to the first one to the end of the last.
  double run(const Loop& loop, const std::function<void()>& call);

 private:
  void record(const Event& event);

  Communicator& communicator_;
  const Stream& stream_;
  Event begin_;
  Event end_;
  std::vector<Event> marks_;
};

}  // namespace fleetbench::gpu::nccl
