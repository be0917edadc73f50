// What keeps a process from seeing some of a node's GPUs on purpose.
#pragma once

#include <functional>
#include <string>

#include "probes/support/host_files.hpp"
#include "results-schema/metric.hpp"

namespace fleetbench {

// {"let_see": how many GPUs of NVIDIA this process is let see, "let_see_by": what says so}; empty
// where nothing limits it. Limits are, in this order:
//   - CUDA_VISIBLE_DEVICES (`visible_devices`; null: not set), as far as CUDA reads it: up to the
//     first entry that is no number and no beginning of a UUID. But no more than the next allows.
//   - a container or a control group: fewer of /dev/nvidia0, 1 … can be opened than the driver has
//     GPUs. Where there is no such file at all the driver is not set up: that limits nothing.
//   - GPUs that vfio-pci drives: a virtual machine has them.
// A GPU that no driver is bound to is hidden by nobody. `is_usable` says whether this process may
// open a file of a device, as access() does, which heeds control groups.
Json allowed_gpus(const HostFiles& files, const char* visible_devices,
                  const std::function<bool(const std::string& path)>& is_usable);

}  // namespace fleetbench
