// The images of the data set, each made from its number.
#pragma once

#include <cstdint>
#include <string>

#include "probes/images/picture.hpp"

namespace fleetbench::images {

struct Sample {
  std::string name;  // "000012.jpg"
  std::size_t size = 0;
  std::uint32_t file_crc = 0;
  std::uint32_t pixels_crc = 0;  // of what its bytes decode to
};

struct EncodedSample {
  Sample sample;
  Bytes bytes;
};

// Whether image `number` is a PNG: `png_share` (0 to 1) of any run of neighbours are.
bool is_png(int number, double png_share);

// Makes, encodes and decodes the image. Throws WrongResult naming it where its pixels are not those
// that were encoded: exactly for a PNG, and for a JPEG on average within a few grey levels.
EncodedSample make_sample(int number, double png_share);

}  // namespace fleetbench::images
