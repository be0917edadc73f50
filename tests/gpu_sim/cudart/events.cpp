// Events: marks in a stream whose modelled time can be read.
#include "tests/gpu_sim/cudart/call.hpp"

using gpu_sim::call;
using gpu_sim::Event;
using gpu_sim::give_back;
using gpu_sim::Lock;
using gpu_sim::Model;
using gpu_sim::Operation;
using gpu_sim::require;

extern "C" {

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call([&](Model& model, Lock&) {
    require(event != nullptr && (flags & ~(cudaEventBlockingSync | cudaEventDisableTiming)) == 0);
    auto made = std::make_shared<Event>();
    made->device = &model.current_device();
    made->timed = (flags & cudaEventDisableTiming) == 0;
    *event = model.events.add(std::move(made));
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return give_back([&](Model& model, Lock&) { model.events.remove(event); });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call([&](Model& model, Lock&) {
    const auto queue = model.queue(stream);
    const auto recorded = model.events.get(event);
    require(recorded->device == queue->device, cudaErrorInvalidResourceHandle);
    recorded->operation = model.submit(*queue, Operation{});
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call([&](Model& model, Lock&) {
    const auto asked = model.events.get(event);
    require(model.is_done(asked->operation), cudaErrorNotReady);
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call([&](Model& model, Lock& lock) {
    const auto operation = model.events.get(event)->operation;
    model.wait_for(lock, operation);
  });
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return call([&](Model& model, Lock&) {
    require(ms != nullptr);
    const auto first = model.events.get(start);
    const auto second = model.events.get(end);
    require(first->timed && second->timed && first->operation && second->operation &&
                first->device == second->device,
            cudaErrorInvalidResourceHandle);
    require(model.is_done(first->operation) && model.is_done(second->operation), cudaErrorNotReady);
    *ms = static_cast<float>((second->operation->end_ns - first->operation->end_ns) * 1e-6);
  });
}

}  // extern "C"
