#include "probes/images/decoder.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>

#include "probes/images/png.hpp"

namespace fleetbench::images {
namespace {

constexpr std::array kJpegStart{std::byte{0xff}, std::byte{0xd8}};
constexpr std::array kPngStart{std::byte{0x89}, std::byte{'P'}, std::byte{'N'}, std::byte{'G'}};

bool starts_with(std::span<const std::byte> bytes, std::span<const std::byte> start) {
  return bytes.size() >= start.size() && std::equal(start.begin(), start.end(), bytes.begin());
}

}  // namespace

std::uint32_t crc_of(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::uint32_t crc_of(const Picture& picture) {
  return crc_of(std::as_bytes(std::span(picture.rgb)));
}

void Decoder::decode(std::span<const std::byte> bytes, Picture& picture) {
  if (starts_with(bytes, kJpegStart)) {
    jpeg_.decode(bytes, picture);
  } else if (starts_with(bytes, kPngStart)) {
    decode_png(bytes, picture);
  } else {
    throw CorruptImage("it starts neither like a JPEG nor like a PNG file");
  }
}

}  // namespace fleetbench::images
