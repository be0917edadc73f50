#include "probes/gpu/copy_timer.hpp"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "probes/probe.hpp"
#include "probes/support/median.hpp"

namespace fleetbench::gpu {
namespace {

// The other direction may be faster, though hardly by more than this; and all of its copies must
// fit into the queue of a stream, for nothing leaves it before the latch is released.
constexpr int kMostTimesAgainst = 16;
constexpr auto kAskEvery = std::chrono::microseconds(200);

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

Json copy_plan_properties(int most_copies) {
  Json properties = Json::parse(R"({
    "copies": {
      "description": "copies in a sample, all queued before the first begins",
      "type": "integer", "minimum": 1, "default": 16
    },
    "warm_up": {
      "description": "copies before the first sample of each figure",
      "type": "integer", "minimum": 0, "maximum": 1000, "default": 4
    },
    "samples": {
      "description": "how often each figure is taken in a measurement; their median counts",
      "type": "integer", "minimum": 1, "maximum": 1000, "default": 3
    }
  })");
  properties["copies"]["maximum"] = most_copies;
  return properties;
}

CopyPlan copy_plan_from(const Json& params) {
  CopyPlan plan{.copies = params.at("copies").get<int>(),
                .warm_up = params.at("warm_up").get<int>(),
                .samples = params.at("samples").get<int>()};
  if (params.contains("longest_s")) {
    plan.longest_s = params.at("longest_s").get<double>();
  }
  return plan;
}

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
  wait_for(stream_);
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

// Asking instead of waiting costs nothing that is measured: the events tell the device's time.
void CopyTimer::wait_for(const Stream& stream) const {
  if (!plan_.longest_s) {
    gpu_.check(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
    return;
  }
  const auto start = std::chrono::steady_clock::now();
  const std::chrono::duration<double> longest(*plan_.longest_s);
  cudaError_t code = cudaErrorNotReady;
  while ((code = cudaStreamQuery(stream.get())) == cudaErrorNotReady) {
    cudaGetLastError();  // CUDA remembers "not ready" as an error, which a launch would return
    if (std::chrono::steady_clock::now() - start > longest) {
      throw TimedOut(
          fmt::format("copies do not end within {} s on {}", *plan_.longest_s, gpu_.label()));
    }
    std::this_thread::sleep_for(kAskEvery);
  }
  gpu_.check(code, "cudaStreamQuery");
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
  wait_for(stream_);
  wait_for(other_stream_);
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
