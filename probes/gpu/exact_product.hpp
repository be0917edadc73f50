// Whether a product of matrices of small integers is right, told by the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "probes/gpu/precision.hpp"

namespace fleetbench::gpu {

// `d` is what a GPU gave for Aᵀ·B, n × n in columns, in the precision's output format; A and B are
// launch_integer_matrix's of these seeds, n × n in columns. The first row of D that is false, by
// Freivalds' method: D·r = Aᵀ·(B·r) for a random vector r, in 64-bit integers that wrap around; a
// false row passes with a chance below 2^-39, as no error is a multiple of more than 2^24. (R.
// Freivalds, "Probabilistic machines can use less running time", IFIP 1977.) Takes the time of
// reading three such matrices.
std::optional<int> first_false_row(const Precision& precision, std::span<const std::byte> d, int n,
                                   std::uint32_t seed_a, std::uint32_t seed_b);

}  // namespace fleetbench::gpu
