// Devices that reach into each other's memory: here every one may.
#include "tests/gpu_sim/cudart/call.hpp"

using gpu_sim::call;
using gpu_sim::Device;
using gpu_sim::Lock;
using gpu_sim::Model;
using gpu_sim::require;

extern "C" {

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call([&](Model& model, Lock&) {
    require(can != nullptr);
    *can = &model.device(device) != &model.device(peer) ? 1 : 0;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return call([&](Model& model, Lock&) {
    require(flags == 0);
    const Device& from = model.current_device();
    const Device& to = model.device(peer);
    require(&from != &to, cudaErrorInvalidDevice);
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
    require(&model.device(from) != &model.device(to), cudaErrorInvalidDevice);
    require(attribute >= cudaDevP2PAttrPerformanceRank &&
            attribute <= cudaDevP2PAttrCudaArrayAccessSupported);
    *value = attribute == cudaDevP2PAttrPerformanceRank ? 0 : 1;
  });
}

}  // extern "C"
