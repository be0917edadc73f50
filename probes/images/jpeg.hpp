// JPEG through libjpeg-turbo's TurboJPEG interface.
#pragma once

#include <memory>
#include <span>

#include "probes/images/picture.hpp"

namespace fleetbench::images {

struct TurboJpegDeleter {
  void operator()(void* handle) const;
};
using TurboJpegHandle = std::unique_ptr<void, TurboJpegDeleter>;

// One thread each; buffers of the library are kept from picture to picture.
class JpegDecoder {
 public:
  JpegDecoder();  // throws std::runtime_error

  // With the slow integer transform, whose results the standard's arithmetic fixes: the same
  // pixels on every processor. Throws CorruptImage with the library's message, also where the
  // library could have gone on with a warning (a cut file gives a picture that is grey below).
  void decode(std::span<const std::byte> bytes, Picture& picture);

 private:
  TurboJpegHandle handle_;
};

// Colour at half the resolution (4:2:0), as most photographs have it. Quality 1 to 100.
Bytes encode_jpeg(const Picture& picture, int quality);

}  // namespace fleetbench::images
