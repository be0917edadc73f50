#include "probes/gpu/nccl/call_group.hpp"

namespace fleetbench::gpu::nccl {

CallGroup::CallGroup(Communicator& communicator, cudaStream_t stream)
    : communicator_(communicator), stream_(stream) {
  communicator.check(communicator.calls().group_start(), "ncclGroupStart");
}

// What becomes of it is nobody's concern: the communicator is aborted.
CallGroup::~CallGroup() {
  if (open_) {
    communicator_.calls().group_end();
  }
}

void CallGroup::send(const void* from, std::size_t count, ncclDataType_t type, std::size_t to) {
  check(communicator_.calls().send(from, count, type, static_cast<int>(to), communicator_.get(),
                                   stream_),
        "ncclSend");
}

void CallGroup::receive(void* to, std::size_t count, ncclDataType_t type, std::size_t from) {
  check(communicator_.calls().recv(to, count, type, static_cast<int>(from), communicator_.get(),
                                   stream_),
        "ncclRecv");
}

void CallGroup::end() {
  open_ = false;
  communicator_.check(communicator_.calls().group_end(), "ncclGroupEnd");
}

// Within a group nothing is under way yet, and nobody may ask.
void CallGroup::check(ncclResult_t result, const char* call) {
  communicator_.check(result == ncclInProgress ? ncclSuccess : result, call);
}

}  // namespace fleetbench::gpu::nccl
