// Devices that report errors of their own.
#pragma once

#include <vector>

#include "harness/detect/detect.hpp"
#include "harness/detect/table.hpp"

namespace fleetbench::detect {

// A device that lost data or cannot keep it (uncorrected ECC errors, rows of memory that wait to be
// remapped or cannot be), or whose driver reported an Xid, is no device to compute on, however fast
// it is: a finding `wrong` of its own, with what its peers report beside it. Not where most peers
// report the same, nor of a device that is wrong or missing anyway.
std::vector<Finding> device_errors(const RunData& run, const Names& names,
                                   const std::vector<Finding>& findings);

}  // namespace fleetbench::detect
