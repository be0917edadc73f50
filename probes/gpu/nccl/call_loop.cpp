#include "probes/gpu/nccl/call_loop.hpp"

namespace fleetbench::gpu::nccl {
namespace {

// From here on an event after each call is lost in what the call takes.
constexpr std::size_t kLarge_bytes = 1 << 20;
constexpr int kCallsPerMark = 64;
// CUDA's queue holds about a thousand launches, and a full one blocks the host, which could then
// not see that nothing moves.
constexpr int kMostQueued = 256;

}  // namespace

CallLoop::CallLoop(Communicator& communicator, const Stream& stream)
    : communicator_(communicator),
      stream_(stream),
      begin_(communicator.gpu()),
      end_(communicator.gpu()) {
  for (int i = 0; i < kMostQueued; ++i) {
    marks_.emplace_back(communicator.gpu());
  }
}

void CallLoop::record(const Event& event) {
  communicator_.gpu().check(cudaEventRecord(event.get(), stream_.get()), "cudaEventRecord");
}

double CallLoop::run(const Loop& loop, const std::function<void()>& call) {
  const int per_mark = loop.bytes >= kLarge_bytes ? 1 : kCallsPerMark;
  const int most_marks = kMostQueued / per_mark;
  communicator_.progress() = {.phase = loop.phase, .calls = loop.calls, .done = 0};
  int marked = 0;
  int reached = 0;
  const auto reach_next = [&] {
    communicator_.wait(marks_[static_cast<std::size_t>(reached % most_marks)]);
    ++reached;
    communicator_.progress().done = reached * per_mark;
  };
  for (int i = 0; i < loop.lead_in; ++i) {
    call();
  }
  record(begin_);
  for (int i = 1; i <= loop.calls; ++i) {
    call();
    if (i % per_mark != 0 || i == loop.calls) {
      continue;
    }
    if (marked - reached == most_marks) {
      reach_next();
    }
    record(marks_[static_cast<std::size_t>(marked % most_marks)]);
    ++marked;
  }
  record(end_);
  while (reached < marked) {
    reach_next();
  }
  communicator_.wait(end_);
  communicator_.progress() = {.phase = loop.phase + ", after its calls"};
  return seconds_between(communicator_.gpu(), begin_, end_);
}

}  // namespace fleetbench::gpu::nccl
