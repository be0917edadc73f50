// Numbers that look random and are the same in every run.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpu_sim {

// A 64-bit number from a text and a number.
std::uint64_t hashed(std::string_view text, std::uint64_t number);

// About normally distributed with mean 0 and standard deviation 1, never beyond ±3.5.
double bell(std::uint64_t hash);

}  // namespace gpu_sim
