// Keeps a device for one process, as the exclusive compute mode does.
#pragma once

#include <string>

namespace gpu_sim {

// A descriptor that holds `name` until this process ends, or -1 where another process holds it.
int claimed(const std::string& name);

}  // namespace gpu_sim
