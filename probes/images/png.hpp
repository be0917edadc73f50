// PNG through libpng.
#pragma once

#include <span>

#include "probes/images/picture.hpp"

namespace fleetbench::images {

// Lossless. Throws CorruptImage with the library's message, warnings included.
void decode_png(std::span<const std::byte> bytes, Picture& picture);

// 8 bits a channel, with libpng's fast setting: what it saves in making is lost in nothing that is
// measured. Throws std::runtime_error.
Bytes encode_png(const Picture& picture);

}  // namespace fleetbench::images
