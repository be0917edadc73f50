#include "tests/gpu_sim/model/model.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "tests/gpu_sim/model/chip.hpp"
#include "tests/gpu_sim/model/claim.hpp"
#include "tests/gpu_sim/model/visible_devices.hpp"

namespace gpu_sim {

namespace {

constexpr int kRuntimeMajor = 13;

struct ThreadState {
  int current = 0;
  double host_ns = -1;
  double patience_ns = 0;  // what the next fruitless question costs
};
thread_local ThreadState thread;

Settings settings_or_end() {
  try {
    return settings_from_environment();
  } catch (const BadSetting& error) {
    // A test without the fault that it is about would pass for nothing.
    std::fprintf(stderr, "gpu_sim: %s\n", error.what());
    _exit(64);
  }
}

}  // namespace

Model& Model::get() {
  static Model* model = new Model;  // lives until the last destructor has run
  return *model;
}

Model::Model() : settings(settings_or_end()) {
  std::vector<Device*> usable;
  for (std::size_t i = 0; i < settings.gpus.size(); ++i) {
    devices.push_back(std::make_unique<Device>(settings, static_cast<int>(i)));
    if (!settings.gpus[i].gone && !settings.gpus[i].mig) {
      usable.push_back(devices.back().get());
    }
  }
  visible = visible_devices(usable, settings.visible);
  claims_.fill(-1);
}

int Model::driver_version() const {
  int version = 13000;
  for (const Faults& faults : settings.gpus) {
    if (faults.no_libcuda) {
      return 0;
    }
    version = faults.driver_version.value_or(version);
  }
  return version;
}

std::optional<cudaError_t> Model::start_error() const {
  if (driver_version() / 1000 < kRuntimeMajor) {
    return cudaErrorInsufficientDriver;
  }
  const bool no_driver = std::any_of(settings.gpus.begin(), settings.gpus.end(),
                                     [](const Faults& faults) { return faults.no_driver; });
  if (no_driver || visible.empty()) {
    return cudaErrorNoDevice;
  }
  return std::nullopt;
}

int Model::current() const { return thread.current; }

void Model::set_current(int number) {
  take(device(number));
  thread.current = number;
}

Device& Model::current_device() {
  Device& found = device(thread.current);
  take(found);
  return found;
}

Device& Model::device(int number) const {
  if (const auto error = start_error()) {
    throw CudaError(*error);
  }
  require(number >= 0 && static_cast<std::size_t>(number) < visible.size(), cudaErrorInvalidDevice);
  return *visible[static_cast<std::size_t>(number)];
}

void Model::take(Device& device) {
  require(device.faults().compute_mode != ComputeMode::prohibited, cudaErrorDevicesUnavailable);
  int& claim = claims_[static_cast<std::size_t>(device.index())];
  if (device.faults().compute_mode == ComputeMode::exclusive && claim < 0) {
    claim = claimed(device.uuid_text());
    require(claim >= 0, cudaErrorDevicesUnavailable);
  }
}

Queue& Model::default_queue(Device& device) {
  auto& queue = default_queues_[static_cast<std::size_t>(device.index())];
  if (!queue) {
    queue = timeline.add_queue(device, true);
  }
  return *queue;
}

std::shared_ptr<Queue> Model::queue(cudaStream_t stream) {
  if (stream == nullptr || stream == cudaStreamLegacy) {
    default_queue(current_device());
    return default_queues_[static_cast<std::size_t>(current_device().index())];
  }
  return streams.get(stream);
}

template <typename Run>
void Model::guarded(Run run) {
  try {
    run();
  } catch (const CudaError& error) {
    sticky = error.code;
    timeline.abandon_all();
    throw;
  }
}

OperationPtr Model::submit(Queue& queue, Operation operation) {
  spend(chip::kCallNs * settings.latency);
  operation.enqueued_ns = host_ns();
  guarded([&] { timeline.notice(host_ns()); });
  Queue& standard = default_queue(*queue.device);
  if (&queue == &standard) {
    for (const auto& other : timeline.queues_of(*queue.device)) {
      if (other->blocking && other->last) {
        operation.after.push_back(other->last);
      }
    }
  } else if (queue.blocking && standard.last) {
    operation.after.push_back(standard.last);
  }
  return timeline.enqueue(queue, std::move(operation));
}

double& Model::host_ns() {
  if (thread.host_ns < 0) {
    thread.host_ns = latest_ns_;
  }
  return thread.host_ns;
}

void Model::spend(double ns) {
  host_ns() += ns;
  latest_ns_ = std::max(latest_ns_, host_ns());
}

void Model::wait_for(Lock& lock, const OperationPtr& operation) {
  if (!operation) {
    return;
  }
  constexpr std::chrono::microseconds kLongestPause{1600};
  const double now = host_ns();
  std::chrono::microseconds pause{50};
  bool done = false;
  while (guarded([&] { done = timeline.run_for(*operation, now); }), !done) {
    came.wait_for(lock, pause);
    pause = std::min(2 * pause, kLongestPause);
  }
  if (sticky) {
    throw CudaError(*sticky);
  }
  thread.patience_ns = 0;
  host_ns() = std::max(host_ns(), operation->end_ns);
  spend(chip::kWakeNs * settings.latency);
}

void Model::wait_for(Lock& lock, Queue& queue) { wait_for(lock, OperationPtr(queue.last)); }

void Model::wait_for_device(Lock& lock, const Device& device) {
  for (const auto& queue : timeline.queues_of(device)) {
    wait_for(lock, *queue);
  }
}

bool Model::have_come(const OperationPtr& operation) {
  bool done = false;
  guarded([&] { done = timeline.run_for(*operation, host_ns()); });
  spend(done ? std::max(0.0, operation->end_ns - host_ns()) : 0);
  return done;
}

bool Model::is_done(const OperationPtr& operation) {
  if (!operation) {
    return true;
  }
  if (operation->awaits_others) {
    return have_come(operation);
  }
  constexpr double kFirstNs = 1000;
  constexpr double kMostNs = 1e9;
  spend(thread.patience_ns);
  guarded([&] { timeline.run_until(host_ns()); });
  if (operation->done && operation->end_ns <= host_ns()) {
    thread.patience_ns = 0;
    return true;
  }
  thread.patience_ns = std::clamp(2 * thread.patience_ns, kFirstNs, kMostNs);
  return false;
}

void Model::reset(Lock& lock, Device& device) {
  wait_for_device(lock, device);
  memory.free_all(device);
  streams.remove_if([&](const Queue& queue) { return queue.device == &device; });
  events.remove_if([&](const Event& event) { return event.device == &device; });
  std::erase_if(memory.peer_access, [&](const auto& pair) { return pair.first == device.index(); });
}

std::string Model::leaks() const {
  Ledger all = ledger;
  all.opened("device allocation", static_cast<long>(memory.device_allocations()));
  all.opened("page-locked allocation", static_cast<long>(memory.host_allocations()));
  all.opened("host registration", static_cast<long>(memory.host_registrations()));
  all.opened("stream", static_cast<long>(streams.size()));
  all.opened("event", static_cast<long>(events.size()));
  return all.text();
}

}  // namespace gpu_sim
