#include "probes/images/png.hpp"

#include <fmt/format.h>
#include <png.h>

namespace fleetbench::images {
namespace {

constexpr std::uint64_t kMostPixels = std::uint64_t{64} << 20U;

// libpng's interface for whole images: no setjmp, errors are a text in the structure.
struct PngImage {
  png_image image{};

  PngImage() { image.version = PNG_IMAGE_VERSION; }
  ~PngImage() { png_image_free(&image); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;

  // Also of what the library would only warn of.
  bool is_bad() const { return image.warning_or_error != 0; }
  std::string text() const { return fmt::format("libpng: {}", image.message); }
};

}  // namespace

void decode_png(std::span<const std::byte> bytes, Picture& picture) {
  PngImage png;
  if (png_image_begin_read_from_memory(&png.image, bytes.data(), bytes.size()) == 0 ||
      png.is_bad()) {
    throw CorruptImage(png.text());
  }
  if (std::uint64_t{png.image.width} * png.image.height > kMostPixels) {
    throw CorruptImage(
        fmt::format("its header claims {} x {} pixels", png.image.width, png.image.height));
  }
  png.image.format = PNG_FORMAT_RGB;
  picture.resize(static_cast<int>(png.image.width), static_cast<int>(png.image.height));
  if (png_image_finish_read(&png.image, nullptr, picture.rgb.data(), 0, nullptr) == 0 ||
      png.is_bad()) {
    throw CorruptImage(png.text());
  }
}

Bytes encode_png(const Picture& picture) {
  PngImage png;
  png.image.width = static_cast<png_uint_32>(picture.width);
  png.image.height = static_cast<png_uint_32>(picture.height);
  png.image.format = PNG_FORMAT_RGB;
  png.image.flags = PNG_IMAGE_FLAG_FAST;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png.image);
  Bytes bytes(size);
  if (png_image_write_to_memory(&png.image, bytes.data(), &size, 0, picture.rgb.data(), 0,
                                nullptr) == 0) {
    throw std::runtime_error(png.text());
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace fleetbench::images
