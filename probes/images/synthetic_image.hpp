// Pictures that compress like photographs and are the same on every machine.
#pragma once

#include <cstdint>

#include "probes/images/picture.hpp"

namespace fleetbench::images {

// So many neighbouring numbers have one picture of each size, so that any such group is as much
// work as any other.
constexpr int kSizesInAGroup = 8;

// Noise whose amplitude falls with its frequency, as in photographs (D. Field, "Relations between
// the statistics of natural images and the response properties of cortical cells", JOSA A 1987).
// The size is one of eight, give or take 3 %, 500 x 375 pixels on average, as in ImageNet. Integer
// arithmetic only: every machine and compiler makes the same pixels of a number.
Picture synthetic_image(std::uint64_t number);

}  // namespace fleetbench::images
