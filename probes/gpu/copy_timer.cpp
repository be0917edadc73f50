#include "probes/gpu/copy_timer.hpp"

#include <stdexcept>

#include "probes/support/median.hpp"

namespace fleetbench::gpu {
namespace {

// The other direction may be faster, though hardly by more than this; and all of its copies must
// fit into the queue of a stream, for nothing leaves it before the latch is released.
constexpr int kMostTimesAgainst = 16;

// Whatever is thrown while work is queued: a device that waits for the host could not be freed.
class ReleaseAtEnd {
 public:
  explicit ReleaseAtEnd(LaunchLatch& latch) : latch_(latch) {}
  ~ReleaseAtEnd() { latch_.release(); }
  ReleaseAtEnd(const ReleaseAtEnd&) = delete;
  ReleaseAtEnd& operator=(const ReleaseAtEnd&) = delete;

 private:
  LaunchLatch& latch_;
};

}  // namespace

CopyTimer::CopyTimer(const Gpu& gpu, CopyPlan plan)
    : gpu_(gpu),
      plan_(plan),
      latch_(gpu),
      stream_(gpu),
      other_stream_(gpu),
      released_(gpu),
      begin_(gpu),
      end_(gpu),
      other_end_(gpu) {}

void CopyTimer::queue(const CopyRoute& route, int copies, const Stream& stream) const {
  for (int i = 0; i < copies; ++i) {
    gpu_.check(cudaMemcpyAsync(route.to, route.from, route.bytes, cudaMemcpyDefault, stream.get()),
               "cudaMemcpyAsync");
  }
}

std::vector<double> CopyTimer::time(const CopyRoute& route,
                                    const std::optional<CopyRoute>& against) {
  queue(route, plan_.warm_up, stream_);
  gpu_.synchronize();
  std::vector<double> seconds;
  int times_against = 2;
  while (static_cast<int>(seconds.size()) < plan_.samples) {
    const auto taken = sample(route, against, plan_.copies * times_against);
    if (taken) {
      seconds.push_back(*taken);
      continue;
    }
    times_against *= 2;
    if (times_against > kMostTimesAgainst) {
      throw std::runtime_error(gpu_.label() +
                               ": copies in the other direction end too early to measure both");
    }
  }
  return seconds;
}

// None where the other route was idle before the end.
std::optional<double> CopyTimer::sample(const CopyRoute& route,
                                        const std::optional<CopyRoute>& against,
                                        int copies_against) {
  latch_.hold(stream_.get());
  const ReleaseAtEnd release(latch_);
  gpu_.check(cudaEventRecord(released_.get(), stream_.get()), "cudaEventRecord");
  gpu_.check(cudaEventRecord(begin_.get(), stream_.get()), "cudaEventRecord");
  queue(route, plan_.copies, stream_);
  gpu_.check(cudaEventRecord(end_.get(), stream_.get()), "cudaEventRecord");
  if (against) {
    gpu_.check(cudaStreamWaitEvent(other_stream_.get(), released_.get(), 0), "cudaStreamWaitEvent");
    queue(*against, copies_against, other_stream_);
    gpu_.check(cudaEventRecord(other_end_.get(), other_stream_.get()), "cudaEventRecord");
  }
  latch_.release();
  gpu_.check(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize");
  gpu_.check(cudaStreamSynchronize(other_stream_.get()), "cudaStreamSynchronize");
  latch_.require_held();
  if (against && seconds_between(gpu_, end_, other_end_) < 0) {
    return std::nullopt;
  }
  return seconds_between(gpu_, begin_, end_);
}

double copy_rate(const std::vector<double>& sample_s, int copies, std::size_t bytes) {
  return static_cast<double>(bytes) * copies / median(sample_s);
}

}  // namespace fleetbench::gpu
