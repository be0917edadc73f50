// Decoded pixels, and a number that stands for bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace fleetbench::images {

using Bytes = std::vector<std::byte>;

// 8 bits each of red, green, blue; rows from the top, without gaps.
struct Picture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;

  // Contents are undefined afterwards. Memory is kept, for the next picture.
  void resize(int new_width, int new_height) {
    width = new_width;
    height = new_height;
    rgb.resize(std::size_t{3} * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  }
};

// Bytes that no decoder can make a picture of; the message is the library's.
struct CorruptImage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// CRC-32 of zlib.
std::uint32_t crc_of(std::span<const std::byte> bytes);
std::uint32_t crc_of(const Picture& picture);

}  // namespace fleetbench::images
