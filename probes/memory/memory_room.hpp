// Is there memory for buffers of several times the last cache?
#pragma once

#include "probes/support/host_files.hpp"

namespace fleetbench {

// Throws NotAvailable where `bytes` are more than `max_share` (0 to 1) of the memory of the machine
// or of its control group: it is too small for what the parameters ask. Throws std::runtime_error
// where it is large enough but in use. What cannot be read is taken to be enough.
void require_room(double bytes, double max_share, const HostFiles& files);

}  // namespace fleetbench
