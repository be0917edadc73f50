// Copies and memset.
#include <cstring>

#include "tests/gpu_sim/cudart/call.hpp"
#include "tests/gpu_sim/model/work.hpp"

using gpu_sim::call;
using gpu_sim::Lock;
using gpu_sim::MemoryKind;
using gpu_sim::Model;
using gpu_sim::Operation;
using gpu_sim::OperationPtr;
using gpu_sim::Place;
using gpu_sim::Queue;
using gpu_sim::require;

namespace {

void require_direction(Model& model, const void* to, const void* from, std::size_t bytes,
                       cudaMemcpyKind kind) {
  require(kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault,
          cudaErrorInvalidMemcpyDirection);
  const bool to_device =
      model.memory.find(to, bytes, cudaErrorInvalidValue).kind == MemoryKind::device;
  const bool from_device =
      model.memory.find(from, bytes, cudaErrorInvalidValue).kind == MemoryKind::device;
  const bool says_to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool says_from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  require(kind == cudaMemcpyDefault || (to_device == says_to && from_device == says_from));
}

struct Copy {
  void* to;
  const void* from;
  std::size_t bytes;
};

void run_copy(Model& model, Lock& lock, const Copy& copy, cudaStream_t stream, bool synchronous) {
  const auto queue = model.queue(stream);
  const auto submitted = submit_copy(model, *queue, copy.to, copy.from, copy.bytes);
  if (synchronous || submitted.synchronous) {
    model.wait_for(lock, submitted.operation);
  }
}

cudaError_t checked_copy(const Copy& copy, cudaMemcpyKind kind, cudaStream_t stream,
                         bool synchronous) {
  return call([&](Model& model, Lock& lock) {
    model.current_device();
    if (copy.bytes > 0) {
      require_direction(model, copy.to, copy.from, copy.bytes, kind);
      run_copy(model, lock, copy, stream, synchronous);
    }
  });
}

OperationPtr submit_memset(Model& model, void* to, int value, std::size_t bytes,
                           cudaStream_t stream) {
  const auto queue = model.queue(stream);
  require(model.memory.find(to, bytes, cudaErrorInvalidValue).kind != MemoryKind::pageable);
  Operation set;
  set.duration_ns = queue->device->kernel_ns(static_cast<double>(bytes), 0);
  set.engines = {&queue->device->compute};
  set.effect = [&model, to, value, bytes] {
    std::memset(model.memory.find(to, bytes, cudaErrorIllegalAddress).bytes, value, bytes);
  };
  return model.submit(*queue, std::move(set));
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return checked_copy({to, from, bytes}, kind, nullptr, true);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return checked_copy({to, from, bytes}, kind, stream, false);
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t bytes, cudaStream_t stream) {
  return call([&](Model& model, Lock& lock) {
    const Place target = model.memory.find(to, bytes, cudaErrorInvalidValue);
    const Place source = model.memory.find(from, bytes, cudaErrorInvalidValue);
    require(target.device == &model.device(to_device) &&
            source.device == &model.device(from_device));
    run_copy(model, lock, {to, from, bytes}, stream, false);
  });
}

cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return call([&](Model& model, Lock&) {
    if (bytes > 0) {
      submit_memset(model, to, value, bytes, nullptr);
    }
  });
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return call([&](Model& model, Lock&) {
    if (bytes > 0) {
      submit_memset(model, to, value, bytes, stream);
    }
  });
}

}  // extern "C"
