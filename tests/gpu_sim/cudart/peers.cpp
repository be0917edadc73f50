// Devices that reach into each other's memory: here every one may, unless a fault says no.
#include "tests/gpu_sim/cudart/call.hpp"

using gpu_sim::call;
using gpu_sim::Device;
using gpu_sim::Lock;
using gpu_sim::Model;
using gpu_sim::require;

namespace {

bool are_peers(const Device& a, const Device& b) {
  return &a != &b && !a.faults().no_peers && !b.faults().no_peers;
}

}  // namespace

extern "C" {

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call([&](Model& model, Lock&) {
    require(can != nullptr);
    *can = are_peers(model.device(device), model.device(peer)) ? 1 : 0;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return call([&](Model& model, Lock&) {
    require(flags == 0);
    const Device& from = model.current_device();
    const Device& to = model.device(peer);
    require(&from != &to, cudaErrorInvalidDevice);
    require(are_peers(from, to), cudaErrorPeerAccessUnsupported);
    require(model.memory.peer_access.emplace(from.index(), to.index()).second,
            cudaErrorPeerAccessAlreadyEnabled);
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return call([&](Model& model, Lock&) {
    const Device& from = model.current_device();
    require(model.memory.peer_access.erase({from.index(), model.device(peer).index()}) == 1,
            cudaErrorPeerAccessNotEnabled);
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to) {
  return call([&](Model& model, Lock&) {
    require(value != nullptr);
    const Device& first = model.device(from);
    const Device& second = model.device(to);
    require(&first != &second, cudaErrorInvalidDevice);
    require(attribute >= cudaDevP2PAttrPerformanceRank &&
            attribute <= cudaDevP2PAttrCudaArrayAccessSupported);
    *value = attribute != cudaDevP2PAttrPerformanceRank && are_peers(first, second) ? 1 : 0;
  });
}

}  // extern "C"
