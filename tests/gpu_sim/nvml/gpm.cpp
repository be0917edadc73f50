// What a Hopper counts of its own work: here how busy it is when a sample is taken.
#include <cstdint>
#include <map>

#include "tests/gpu_sim/nvml/call.hpp"

using namespace gpu_sim;
using namespace gpu_sim::nvml;

namespace {

struct Sample {
  Device* device = nullptr;  // none: nothing was read into it yet
  double activity = 0;
};

// With the model locked.
std::map<nvmlGpmSample_t, Sample>& samples() {
  static auto* all = new std::map<nvmlGpmSample_t, Sample>;
  return *all;
}

Sample& sample_of(nvmlGpmSample_t handle) {
  const auto found = samples().find(handle);
  require_nvml(found != samples().end());
  return found->second;
}

void answer(nvmlGpmMetric_t& metric, double activity) {
  metric.nvmlReturn = kSuccess;
  metric.metricInfo = {};
  if (metric.metricId == kSmActive) {
    metric.value = 100 * activity;
  } else if (metric.metricId == kSmOccupancy) {
    metric.value = 50 * activity;
  } else {
    metric.nvmlReturn = kNotSupported;
  }
}

}  // namespace

extern "C" {

NVML_EXPORT nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t handle, nvmlGpmSupport_t* support) {
  return on_device(handle, [&](Device&) {
    require_nvml(support != nullptr);
    require_nvml(support->version == kGpmVersion, kVersionMismatch);
    support->isSupportedDevice = 1;
  });
}

NVML_EXPORT nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t* sample) {
  return nvml_call([&](Model& model) {
    require_nvml(sample != nullptr);
    static std::uintptr_t next = 0;
    next += 16;
    *sample = reinterpret_cast<nvmlGpmSample_t>(next);
    samples()[*sample];
    model.ledger.opened("GPM sample");
  });
}

NVML_EXPORT nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t sample) {
  return nvml_call([&](Model& model) {
    require_nvml(samples().erase(sample) == 1);
    model.ledger.closed("GPM sample");
  });
}

NVML_EXPORT nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t handle, nvmlGpmSample_t sample) {
  return on_device(handle, [&](Device& device) {
    sample_of(sample) = {&device, device.activity()};
  });
}

NVML_EXPORT nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t* asked) {
  return nvml_call([&](Model&) {
    require_nvml(asked != nullptr);
    require_nvml(asked->version == kGpmVersion, kVersionMismatch);
    const Sample& first = sample_of(asked->sample1);
    const Sample& second = sample_of(asked->sample2);
    require_nvml(first.device != nullptr && first.device == second.device);
    for (unsigned i = 0; i < asked->numMetrics; ++i) {
      answer(asked->metrics[i], second.activity);
    }
  });
}

}  // extern "C"
