// Whether what cuBLASLt multiplies on a GPU is right: products of random matrices beside a
// reference in fp64, and products of small integers bit for bit.
#pragma once

#include "probes/gpu/gpu.hpp"
#include "probes/gpu/precision.hpp"
#include "results-schema/metric.hpp"

namespace fleetbench::gpu {

// Checks n × n products in one precision by each algorithm that cuBLASLt proposes:
//   {"precision", "n", "status": ok, wrong, skipped or failed, "reason" unless it is ok,
//    "algorithms": how many, "largest_error": as a share of its bound, over all elements,
//    "bound": the largest, as a share of the root mean square of the exact elements}
// The last says how sharp the check is: below 1 a wrong sum is seen that is off by as much as sums
// differ. Throws nothing but std::bad_alloc.
Json check_product(const Gpu& gpu, const Precision& precision, int n);

}  // namespace fleetbench::gpu
