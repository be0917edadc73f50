// Streams.
#include "tests/gpu_sim/cudart/call.hpp"

using gpu_sim::call;
using gpu_sim::CudaError;
using gpu_sim::give_back;
using gpu_sim::Lock;
using gpu_sim::Model;
using gpu_sim::Operation;
using gpu_sim::require;

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return call([&](Model& model, Lock&) {
    require(stream != nullptr && (flags == cudaStreamDefault || flags == cudaStreamNonBlocking));
    *stream = model.streams.add(
        model.timeline.add_queue(model.current_device(), flags == cudaStreamDefault));
  });
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

// What is in it is still done.
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return give_back([&](Model& model, Lock&) { model.streams.remove(stream); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call([&](Model& model, Lock& lock) {
    const auto queue = model.queue(stream);
    model.wait_for(lock, *queue);
  });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return call([&](Model& model, Lock&) {
    const auto queue = model.queue(stream);
    require(model.is_done(queue->last), cudaErrorNotReady);
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return call([&](Model& model, Lock&) {
    require(flags == 0);
    const auto queue = model.queue(stream);
    const auto waited_for = model.events.get(event);
    if (waited_for->operation) {
      Operation wait;
      wait.after = {waited_for->operation};
      model.submit(*queue, std::move(wait));
    }
  });
}

}  // extern "C"
