// Makes a picture of the bytes of an image file, and numbers of either.
#pragma once

#include <span>

#include "probes/images/jpeg.hpp"
#include "probes/images/picture.hpp"

namespace fleetbench::images {

// One thread each.
class Decoder {
 public:
  // By the first bytes, whatever the file is called. Throws CorruptImage.
  void decode(std::span<const std::byte> bytes, Picture& picture);

 private:
  JpegDecoder jpeg_;
};

}  // namespace fleetbench::images
