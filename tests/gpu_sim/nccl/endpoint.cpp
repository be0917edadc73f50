#include "tests/gpu_sim/nccl/endpoint.hpp"

#include <map>

#include "tests/gpu_sim/nccl/log.hpp"

namespace gpu_sim::nccl {

namespace {

struct Registry {
  std::mutex mutex;
  std::map<ncclComm_t, EndpointPtr> endpoints;
  // In the first pages of memory: a program that looks into a handle ends.
  std::uintptr_t next = 4096;
};

Registry& registry() {
  static auto* registry = new Registry;
  return *registry;
}

}  // namespace

EndpointPtr endpoint_of(ncclComm_t handle, const char* function) {
  require(handle != nullptr, ncclInvalidArgument,
          std::string(function) + " : comm argument is NULL");
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().endpoints.find(handle);
  require(found != registry().endpoints.end(), ncclInvalidArgument,
          std::string(function) + " : corrupted comm object detected");
  return found->second;
}

void add_endpoint(const EndpointPtr& endpoint) {
  const std::lock_guard lock(registry().mutex);
  registry().next += 16;
  endpoint->handle = reinterpret_cast<ncclComm_t>(registry().next);
  registry().endpoints[endpoint->handle] = endpoint;
}

void remove_endpoint(const EndpointPtr& endpoint) {
  const std::lock_guard lock(registry().mutex);
  registry().endpoints.erase(endpoint->handle);
}

void require_ready(const Endpoint& endpoint) {
  const ncclResult_t state = endpoint.communicator->state();
  require(state != ncclInProgress && endpoint.questions == 0, ncclInvalidArgument,
          "Attempt to use communicator before the previous operation returned ncclSuccess");
  require(state == ncclSuccess, state, last_error());
}

bool is_drained(Model& model, Endpoint& endpoint) {
  std::erase_if(endpoint.operations,
                [&](const OperationPtr& operation) { return model.is_done(operation); });
  return endpoint.operations.empty();
}

}  // namespace gpu_sim::nccl
