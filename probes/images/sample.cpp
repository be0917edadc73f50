#include "probes/images/sample.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "probes/images/decoder.hpp"
#include "probes/images/png.hpp"
#include "probes/images/synthetic_image.hpp"
#include "probes/probe.hpp"

namespace fleetbench::images {
namespace {

constexpr int kJpegQuality = 90;
// Quality 90 changes these pictures by 3 to 4 grey levels on average, mostly in colour; a block
// decoded falsely, or a wrong colour matrix, by tens.
constexpr double kMostMeanDifference = 8;

double mean_difference(const Picture& a, const Picture& b) {
  if (a.width != b.width || a.height != b.height) {
    return 255;
  }
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < a.rgb.size(); ++i) {
    sum += std::abs(int{a.rgb[i]} - int{b.rgb[i]});
  }
  return static_cast<double>(sum) / static_cast<double>(a.rgb.size());
}

void check(const std::string& name, bool png, const Picture& made, const Picture& decoded) {
  const double difference = mean_difference(made, decoded);
  if (difference > (png ? 0 : kMostMeanDifference)) {
    throw WrongResult(fmt::format(
        "image {}: decoding gives other pixels than were encoded, by {:.3g} grey levels on "
        "average: this machine computes wrong results",
        name, difference));
  }
}

}  // namespace

bool is_png(int number, double png_share) {
  return std::floor((number + 1) * png_share) > std::floor(number * png_share);
}

EncodedSample make_sample(int number, double png_share) {
  const bool png = is_png(number, png_share);
  const Picture made = synthetic_image(static_cast<std::uint64_t>(number));
  EncodedSample encoded;
  encoded.bytes = png ? encode_png(made) : encode_jpeg(made, kJpegQuality);
  encoded.sample.name = fmt::format("{:06}.{}", number, png ? "png" : "jpg");
  Picture decoded;
  Decoder().decode(encoded.bytes, decoded);
  check(encoded.sample.name, png, made, decoded);
  encoded.sample.size = encoded.bytes.size();
  encoded.sample.file_crc = crc_of(encoded.bytes);
  encoded.sample.pixels_crc = crc_of(decoded);
  return encoded;
}

}  // namespace fleetbench::images
