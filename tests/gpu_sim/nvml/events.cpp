// Events: here only Xid errors, which wait for the first who asks.
#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "tests/gpu_sim/nvml/call.hpp"

using namespace gpu_sim;
using namespace gpu_sim::nvml;

namespace {

constexpr unsigned long long kSupported = kEventXid | kEventDoubleBitEcc;

// The devices whose Xid a set has still to tell. All with the model locked.
using Untold = std::set<Device*>;

std::map<nvmlEventSet_t, Untold>& sets() {
  static auto* all = new std::map<nvmlEventSet_t, Untold>;
  return *all;
}

Untold& untold_of(nvmlEventSet_t set) {
  const auto found = sets().find(set);
  require_nvml(found != sets().end());
  return found->second;
}

}  // namespace

extern "C" {

NVML_EXPORT nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t* set) {
  return nvml_call([&](Model& model) {
    require_nvml(set != nullptr);
    static std::uintptr_t next = 0;
    next += 16;
    *set = reinterpret_cast<nvmlEventSet_t>(next);
    sets()[*set];
    model.ledger.opened("NVML event set");
  });
}

NVML_EXPORT nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set) {
  return nvml_call([&](Model& model) {
    require_nvml(sets().erase(set) == 1);
    model.ledger.closed("NVML event set");
  });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t handle,
                                                          unsigned long long* types) {
  return value_of(handle, types, [](Device&) { return kSupported; });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t handle, unsigned long long types,
                                                  nvmlEventSet_t set) {
  return on_device(handle, [&](Device& device) {
    require_nvml((types & ~kSupported) == 0, kNotSupported);
    if (Untold& untold = untold_of(set); (types & kEventXid) != 0 && device.faults().xid) {
      untold.insert(&device);
    }
  });
}

NVML_EXPORT nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t* data,
                                             unsigned timeout_ms) {
  const nvmlReturn_t told = nvml_call([&](Model&) {
    Untold& untold = untold_of(set);
    require_nvml(data != nullptr);
    require_nvml(!untold.empty(), kTimeout);
    Device* device = *untold.begin();
    untold.erase(untold.begin());
    *data = {reinterpret_cast<nvmlDevice_t>(device), kEventXid, *device->faults().xid, kNoInstance,
             kNoInstance};
  });
  if (told == kTimeout) {
    std::this_thread::sleep_for(std::chrono::milliseconds(timeout_ms));
  }
  return told;
}

}  // extern "C"
