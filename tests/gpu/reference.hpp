// What a product of matrices should be, and how far from it what a GPU gave may lie.
#pragma once

#include <string_view>

#include "tests/gpu/host_matrix.hpp"

namespace fleetbench::gpu {

struct Reference {
  HostMatrix exact;   // Aᵀ·B in fp64
  HostMatrix bounds;  // the largest error of each element, see error_bound.hpp
};

// Of matrices as the GPU had them, in a precision of probes/gpu/precision.hpp.
Reference reference_of(std::string_view precision, const HostMatrix& a, const HostMatrix& b);

struct Farthest {
  double error_of_bound = 0;  // its error as a share of its bound: right up to 1; NaN for no number
  std::size_t row = 0;
  std::size_t column = 0;
};

// The element of `found` that is farthest off, as a share of its bound; one that is no number
// before all.
Farthest farthest(const HostMatrix& found, const Reference& reference);

// The largest bound as a share of the root mean square of the exact elements.
double sharpness(const Reference& reference);

}  // namespace fleetbench::gpu
