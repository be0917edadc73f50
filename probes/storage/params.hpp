// The parameters of the probe `storage`.
#pragma once

#include "results-schema/metric.hpp"

namespace fleetbench {

Json storage_params_schema();

}  // namespace fleetbench
