// Adds to a probe of a GPU what the GPU did meanwhile.
#pragma once

#include <memory>

#include "probes/gpu/assigned_gpu.hpp"
#include "probes/probe.hpp"

namespace fleetbench::gpu {

// The same probe, with the covariates sm_clock, memory_clock, temperature and power after its own
// metrics, telemetry in its detail ("gpu", see nvml/telemetry.hpp) and an NVTX range around each
// measurement, named after the probe. Where NVML cannot be had the covariates are absent and the
// detail's "not_measured" says why. `assigned` must outlive it.
std::unique_ptr<Probe> with_telemetry(std::unique_ptr<Probe> probe, const AssignedGpu& assigned);

}  // namespace fleetbench::gpu
