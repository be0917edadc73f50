#include "probes/images/jpeg.hpp"

#include <fmt/format.h>
#include <turbojpeg.h>

namespace fleetbench::images {
namespace {

// A header may claim up to 65535 x 65535 pixels, 12 GB: what is damaged must not take that.
constexpr long kMostPixels = 64L << 20;

struct JpegMemory {
  unsigned char* data = nullptr;
  unsigned long size = 0;

  JpegMemory() = default;
  ~JpegMemory() { tjFree(data); }
  JpegMemory(const JpegMemory&) = delete;
  JpegMemory& operator=(const JpegMemory&) = delete;
};

[[noreturn]] void refuse(void* handle) {
  throw CorruptImage(fmt::format("libjpeg-turbo: {}", tjGetErrorStr2(handle)));
}

TurboJpegHandle checked(tjhandle handle) {
  if (handle == nullptr) {
    throw std::runtime_error(fmt::format("libjpeg-turbo: {}", tjGetErrorStr2(nullptr)));
  }
  return TurboJpegHandle(handle);
}

}  // namespace

void TurboJpegDeleter::operator()(void* handle) const { tjDestroy(handle); }

JpegDecoder::JpegDecoder() : handle_(checked(tjInitDecompress())) {}

void JpegDecoder::decode(std::span<const std::byte> bytes, Picture& picture) {
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  int width = 0;
  int height = 0;
  int subsampling = 0;
  int colours = 0;
  if (tjDecompressHeader3(handle_.get(), data, bytes.size(), &width, &height, &subsampling,
                          &colours) != 0) {
    refuse(handle_.get());
  }
  if (static_cast<long>(width) * height > kMostPixels) {
    throw CorruptImage(fmt::format("its header claims {} x {} pixels", width, height));
  }
  picture.resize(width, height);
  if (tjDecompress2(handle_.get(), data, bytes.size(), picture.rgb.data(), width, 0, height,
                    TJPF_RGB, TJFLAG_ACCURATEDCT | TJFLAG_STOPONWARNING) != 0) {
    refuse(handle_.get());
  }
}

Bytes encode_jpeg(const Picture& picture, int quality) {
  const TurboJpegHandle handle = checked(tjInitCompress());
  JpegMemory jpeg;
  if (tjCompress2(handle.get(), picture.rgb.data(), picture.width, 0, picture.height, TJPF_RGB,
                  &jpeg.data, &jpeg.size, TJSAMP_420, quality, TJFLAG_ACCURATEDCT) != 0) {
    throw std::runtime_error(fmt::format("libjpeg-turbo: {}", tjGetErrorStr2(handle.get())));
  }
  const auto* begin = reinterpret_cast<const std::byte*>(jpeg.data);
  return {begin, begin + jpeg.size};
}

}  // namespace fleetbench::images
