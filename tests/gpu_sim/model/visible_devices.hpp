// Which GPUs CUDA shows, and in which order.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/gpu_sim/model/device.hpp"

namespace gpu_sim {

// Of `usable`, which `visible` (CUDA_VISIBLE_DEVICES, where it is set) names by index or by the
// beginning of a UUID. As CUDA reads it: the first entry that names none ends the list; one that
// comes twice leaves none at all.
std::vector<Device*> visible_devices(const std::vector<Device*>& usable,
                                     const std::optional<std::string>& visible);

}  // namespace gpu_sim
