#include "probes/gpu/nvml/gpm.hpp"

#include <array>

namespace fleetbench::gpu::nvml {
namespace {

// NVML wants no less between two samples.
constexpr auto kShortest = std::chrono::milliseconds(100);

bool counts(const Calls& calls, Device device) {
  GpmSupport support{.version = kGpmVersion, .is_supported = 0};
  return call(calls.gpm_support, device, &support) == kSuccess && support.is_supported != 0;
}

}  // namespace

SmActivity::SmActivity(const Library& library, Device device)
    : calls_(library.calls()),
      device_(device),
      first_(counts(calls_, device) ? sample() : nullptr),
      begun_(std::chrono::steady_clock::now()) {}

SmActivity::Sample SmActivity::sample() const {
  GpmSample made = nullptr;
  if (call(calls_.gpm_alloc, &made) != kSuccess) {
    return nullptr;
  }
  Sample owned(made, FreeGpmSample{calls_.gpm_free});
  return call(calls_.gpm_sample, device_, made) == kSuccess ? std::move(owned) : nullptr;
}

Json SmActivity::finish() {
  Json shares = Json::object();
  if (!first_ || std::chrono::steady_clock::now() - begun_ < kShortest) {
    return shares;
  }
  const Sample second = sample();
  const auto asked = std::make_unique<GpmMetrics>();
  asked->version = kGpmVersion;
  asked->count = 2;
  asked->first = first_.get();
  asked->second = second.get();
  asked->metrics[0].id = kGpmSmActive;
  asked->metrics[1].id = kGpmSmOccupancy;
  if (!second || call(calls_.gpm_metrics, asked.get()) != kSuccess) {
    return shares;
  }
  for (const auto& [name, metric] : {std::pair("sm_active", &asked->metrics[0]),
                                     std::pair("sm_occupancy", &asked->metrics[1])}) {
    if (metric->code == kSuccess) {
      shares[name] = metric->value / 100;
    }
  }
  return shares;
}

}  // namespace fleetbench::gpu::nvml
