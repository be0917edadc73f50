#include "tests/gpu_sim/model/work.hpp"

#include <cstring>
#include <utility>

#include "tests/gpu_sim/model/noise.hpp"

namespace gpu_sim {

namespace {

// Smaller copies carry counters and flags, which a fault of the link seldom hits.
constexpr std::size_t kLeastWrongCopy = 4096;

std::optional<double> never(double, double) { return std::nullopt; }

void place_in_time(Operation& copy, Device& queue_device, const Place& to, const Place& from,
                   std::size_t bytes) {
  if (to.kind == MemoryKind::device && from.kind == MemoryKind::device) {
    if (to.device == from.device) {
      copy.engines = {&to.device->compute};
      copy.duration_ns = to.device->kernel_ns(2.0 * static_cast<double>(bytes), 0);
    } else {
      copy.engines = {&from.device->peer_out, &to.device->peer_in};
      copy.duration_ns = from.device->peer_copy_ns(*to.device, bytes);
    }
    return;
  }
  const bool to_device = to.kind == MemoryKind::device;
  const Place& host = to_device ? from : to;
  const Place& other = to_device ? to : from;
  Device& device = other.device == nullptr ? queue_device : *other.device;
  if (other.device != nullptr) {
    copy.engines = {to_device ? &device.h2d : &device.d2h};
  }
  copy.duration_ns = device.host_copy_ns(to_device, bytes, host.kind == MemoryKind::page_locked);
}

}  // namespace

void flip_a_bit(std::byte* data, std::size_t bytes) {
  const std::uint64_t bit = hashed("wrong bit", bytes) % (8 * bytes);
  data[bit / 8] ^= std::byte{1} << (bit % 8);
}

SubmittedCopy submit_copy(Model& model, Queue& queue, void* to, const void* from,
                          std::size_t bytes) {
  const Place target = model.memory.find(to, bytes, cudaErrorInvalidValue);
  const Place source = model.memory.find(from, bytes, cudaErrorInvalidValue);
  Device& counted = source.kind == MemoryKind::device   ? *source.device
                    : target.kind == MemoryKind::device ? *target.device
                                                        : *queue.device;
  const std::uint64_t number = counted.next_copy();
  const Faults& faults = counted.faults();
  const bool wrong = faults.wrong_copy && number >= *faults.wrong_copy && bytes >= kLeastWrongCopy;
  Operation copy;
  place_in_time(copy, *queue.device, target, source, bytes);
  if (faults.hang_copy == number) {
    copy.end = never;
  }
  copy.effect = [&model, to, from, bytes, wrong] {
    // Looked up again: what was freed meanwhile is not there.
    const Place there = model.memory.find(to, bytes, cudaErrorIllegalAddress);
    std::memmove(there.bytes, model.memory.find(from, bytes, cudaErrorIllegalAddress).bytes, bytes);
    if (wrong) {
      flip_a_bit(there.bytes, bytes);
    }
  };
  const bool synchronous =
      target.kind == MemoryKind::pageable || source.kind == MemoryKind::pageable;
  return {model.submit(queue, std::move(copy)), synchronous};
}

OperationPtr submit_launch(Model& model, Queue& queue, double duration_ns,
                           std::function<void()> effect) {
  const std::uint64_t number = queue.device->next_launch();
  const Faults& faults = queue.device->faults();
  Operation launch;
  launch.duration_ns = duration_ns;
  launch.engines = {&queue.device->compute};
  launch.effect = std::move(effect);
  if (faults.sticky_launch == number) {
    launch.effect = [] { throw CudaError(cudaErrorLaunchFailure); };
  }
  if (faults.hang_launch == number) {
    launch.end = never;
  }
  return model.submit(queue, std::move(launch));
}

}  // namespace gpu_sim
