#include "probes/gpu/nccl/gpu_collective.hpp"

#include <algorithm>
#include <stdexcept>

#include "probes/gpu/nccl/call_group.hpp"

namespace fleetbench::gpu::nccl {
namespace {

void all_reduce(Communicator& communicator, const float* send, float* receive, std::size_t count,
                cudaStream_t stream) {
  communicator.check(communicator.calls().all_reduce(send, receive, count, ncclFloat32, ncclSum,
                                                     communicator.get(), stream),
                     "ncclAllReduce");
}

void all_gather(Communicator& communicator, const float* send, float* receive, std::size_t count,
                cudaStream_t stream) {
  communicator.check(communicator.calls().all_gather(send, receive, count, ncclFloat32,
                                                     communicator.get(), stream),
                     "ncclAllGather");
}

void reduce_scatter(Communicator& communicator, const float* send, float* receive,
                    std::size_t count, cudaStream_t stream) {
  communicator.check(communicator.calls().reduce_scatter(send, receive, count, ncclFloat32, ncclSum,
                                                         communicator.get(), stream),
                     "ncclReduceScatter");
}

void all_to_all(Communicator& communicator, const float* send, float* receive, std::size_t count,
                cudaStream_t stream) {
  CallGroup group(communicator, stream);
  for (std::size_t peer = 0; peer < communicator.place().size(); ++peer) {
    group.send(send + peer * count, count, ncclFloat32, peer);
    group.receive(receive + peer * count, count, ncclFloat32, peer);
  }
  group.end();
}

void broadcast(Communicator& communicator, const float* send, float* receive, std::size_t count,
               cudaStream_t stream) {
  communicator.check(communicator.calls().broadcast(send, receive, count, ncclFloat32, 0,
                                                    communicator.get(), stream),
                     "ncclBroadcast");
}

void reduce(Communicator& communicator, const float* send, float* receive, std::size_t count,
            cudaStream_t stream) {
  communicator.check(communicator.calls().reduce(send, receive, count, ncclFloat32, ncclSum, 0,
                                                 communicator.get(), stream),
                     "ncclReduce");
}

void sendrecv(Communicator& communicator, const float* send, float* receive, std::size_t count,
              cudaStream_t stream) {
  const std::size_t ranks = communicator.place().size();
  const std::size_t me = communicator.place().index;
  CallGroup group(communicator, stream);
  group.send(send, count, ncclFloat32, (me + 1) % ranks);
  group.receive(receive, count, ncclFloat32, (me + ranks - 1) % ranks);
  group.end();
}

}  // namespace

const std::vector<GpuCollective>& gpu_collectives() {
  static const std::vector<GpuCollective> list{
      {collective_shape("all_reduce"), "ncclAllReduce", all_reduce},
      {collective_shape("all_gather"), "ncclAllGather", all_gather},
      {collective_shape("reduce_scatter"), "ncclReduceScatter", reduce_scatter},
      {collective_shape("all_to_all"), "a group of ncclSend and ncclRecv with all", all_to_all},
      {collective_shape("broadcast"), "ncclBroadcast", broadcast},
      {collective_shape("reduce"), "ncclReduce", reduce},
      {collective_shape("sendrecv"),
       "a group of ncclSend to the next and ncclRecv from the previous", sendrecv}};
  return list;
}

const GpuCollective& gpu_collective(std::string_view name) {
  const auto found = std::ranges::find(gpu_collectives(), name,
                                       [](const GpuCollective& entry) { return entry.rule->name; });
  if (found == gpu_collectives().end()) {
    throw std::invalid_argument("\"" + std::string(name) + "\" is no collective");
  }
  return *found;
}

}  // namespace fleetbench::gpu::nccl
