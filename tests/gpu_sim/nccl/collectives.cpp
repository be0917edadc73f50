// The communication functions.
#include <map>
#include <utility>

#include "tests/gpu_sim/nccl/api_call.hpp"

namespace gpu_sim::nccl {

namespace {

void require_type(const Call& call) {
  require(
      element_bytes(call.type) > 0, ncclInvalidArgument,
      std::string(names_of(call.function).nccl) + " : invalid type " + std::to_string(call.type));
}

void require_op(const Call& call) {
  const bool reduces = call.function == Function::all_reduce ||
                       call.function == Function::reduce_scatter ||
                       call.function == Function::reduce;
  require(!reduces || is_known(call.op), ncclInvalidArgument,
          std::string(names_of(call.function).nccl) + " : invalid reduction operation " +
              std::to_string(call.op) + (call.op == ncclAvg ? " (not simulated)" : ""));
}

void require_peer(const Call& call, int ranks) {
  require(call.peer >= 0 && call.peer < ranks, ncclInvalidArgument,
          std::string(names_of(call.function).nccl) + " : invalid root " +
              std::to_string(call.peer) + " (root should be in the 0.." +
              std::to_string(ranks - 1) + " range)");
}

// Whether the fault says so of this call, counted on each device of the process.
bool is_refused(const Device& device, Function function) {
  static auto* counts = new std::map<std::pair<int, Function>, std::uint64_t>;
  const std::uint64_t number = ++(*counts)[{device.index(), function}];
  const auto& refused = device.faults().nccl_refuse;
  const auto found = refused.find(names_of(function).fault);
  return found != refused.end() && number == found->second;
}

ncclResult_t enqueue(const LocalCall& local, ncclComm_t comm, cudaStream_t stream) {
  return api_call([&] {
    const EndpointPtr endpoint = endpoint_of(comm, names_of(local.call.function).nccl);
    require_ready(*endpoint);
    require_type(local.call);
    require_op(local.call);
    require_peer(local.call, endpoint->communicator->ranks());
    require(!is_refused(*endpoint->device, local.call.function), ncclInternalError,
            "refused, as the settings say");
    return local.call.count == 0 ? ncclSuccess : launch_or_group(endpoint, stream, local);
  });
}

}  // namespace

}  // namespace gpu_sim::nccl

using namespace gpu_sim::nccl;

extern "C" {

ncclResult_t ncclAllReduce(const void* input, void* output, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return enqueue({{Function::all_reduce, type, op, 0, count}, input, output}, comm, stream);
}

ncclResult_t ncclAllGather(const void* input, void* output, std::size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
  return enqueue({{Function::all_gather, type, ncclSum, 0, count}, input, output}, comm, stream);
}

ncclResult_t ncclReduceScatter(const void* input, void* output, std::size_t count,
                               ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                               cudaStream_t stream) {
  return enqueue({{Function::reduce_scatter, type, op, 0, count}, input, output}, comm, stream);
}

ncclResult_t ncclBroadcast(const void* input, void* output, std::size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream) {
  return enqueue({{Function::broadcast, type, ncclSum, root, count}, input, output}, comm, stream);
}

ncclResult_t ncclReduce(const void* input, void* output, std::size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
  return enqueue({{Function::reduce, type, op, root, count}, input, output}, comm, stream);
}

ncclResult_t ncclSend(const void* input, std::size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return enqueue({{Function::send, type, ncclSum, peer, count}, input, nullptr}, comm, stream);
}

ncclResult_t ncclRecv(void* output, std::size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return enqueue({{Function::receive, type, ncclSum, peer, count}, nullptr, output}, comm, stream);
}

}  // extern "C"
