// Pictures, their encoding, and what happens to bytes that are no picture.
#include <gmock/gmock.h>

#include <cstdlib>

#include "probes/images/decoder.hpp"
#include "probes/images/jpeg.hpp"
#include "probes/images/png.hpp"
#include "probes/images/sample.hpp"
#include "probes/images/synthetic_image.hpp"

namespace fleetbench::images {
namespace {

using testing::HasSubstr;

std::string refusal(const Bytes& bytes) {
  Picture picture;
  try {
    Decoder().decode(bytes, picture);
  } catch (const CorruptImage& error) {
    return error.what();
  }
  return "";
}

Bytes cut(const Bytes& bytes, std::size_t size) {
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)};
}

Bytes with(Bytes bytes, std::size_t at, std::initializer_list<int> values) {
  for (const int value : values) {
    bytes.at(at++) = static_cast<std::byte>(value);
  }
  return bytes;
}

// Where the frame header of a JPEG says height and width.
std::size_t jpeg_size_offset(const Bytes& jpeg) {
  for (std::size_t i = 0; i + 5 < jpeg.size(); ++i) {
    if (jpeg[i] == std::byte{0xff} && jpeg[i + 1] == std::byte{0xc0}) {
      return i + 5;
    }
  }
  return 0;
}

TEST(SyntheticImage, IsTheSameOnEveryMachine) {
  // A change here makes figures of two versions incomparable: say so in the changelog.
  EXPECT_EQ(crc_of(synthetic_image(0)), 0x1773136cU);
  EXPECT_EQ(crc_of(synthetic_image(7)), 0x7a62ff47U);
  EXPECT_NE(crc_of(synthetic_image(8)), crc_of(synthetic_image(0)));
}

TEST(SyntheticImage, IsOfImageNetsSize) {
  double pixels = 0;
  double jpeg_bytes = 0;
  for (std::uint64_t i = 0; i < kSizesInAGroup; ++i) {
    const Picture picture = synthetic_image(i);
    ASSERT_EQ(picture.rgb.size(), 3U * static_cast<std::size_t>(picture.width * picture.height));
    pixels += picture.width * picture.height;
    jpeg_bytes += static_cast<double>(encode_jpeg(picture, 90).size());
  }
  EXPECT_NEAR(pixels / kSizesInAGroup, 500 * 375, 0.05 * 500 * 375);
  EXPECT_NEAR(jpeg_bytes / kSizesInAGroup, 110e3, 15e3);
}

TEST(Codecs, GiveBackWhatWasEncoded) {
  const Picture made = synthetic_image(3);
  Picture decoded;
  Decoder decoder;
  decoder.decode(encode_png(made), decoded);
  EXPECT_EQ(decoded.rgb, made.rgb);
  decoder.decode(encode_jpeg(made, 90), decoded);
  ASSERT_EQ(decoded.width, made.width);
  ASSERT_EQ(decoded.height, made.height);
  double difference = 0;
  for (std::size_t i = 0; i < made.rgb.size(); ++i) {
    difference += std::abs(int{made.rgb[i]} - int{decoded.rgb[i]});
  }
  EXPECT_LT(difference / static_cast<double>(made.rgb.size()), 8);
}

TEST(Decoder, SaysWhatIsWrongWithBytesThatAreNoPicture) {
  const Bytes jpeg = encode_jpeg(synthetic_image(0), 90);
  const Bytes png = encode_png(synthetic_image(0));
  const std::size_t jpeg_size = jpeg_size_offset(jpeg);
  ASSERT_GT(jpeg_size, 0U);
  const struct {
    const char* name;
    Bytes bytes;
    const char* says;
  } cases[] = {
      {"nothing", {}, "neither like a JPEG nor like a PNG"},
      {"zeros", Bytes(1000), "neither like a JPEG nor like a PNG"},
      {"start of a JPEG", cut(jpeg, 2), "libjpeg-turbo: "},
      {"half a JPEG", cut(jpeg, jpeg.size() / 2), "libjpeg-turbo: Premature end of JPEG file"},
      {"a JPEG without its end", cut(jpeg, jpeg.size() - 2), "libjpeg-turbo: "},
      {"a JPEG with a marker in its data", with(jpeg, jpeg.size() / 2, {0xff, 0xd9}),
       "libjpeg-turbo: "},
      {"a JPEG of 65000 x 65000", with(jpeg, jpeg_size, {0xfd, 0xe8, 0xfd, 0xe8}),
       "its header claims 65000 x 65000 pixels"},
      {"a JPEG of no height", with(jpeg, jpeg_size, {0, 0}), "libjpeg-turbo: "},
      {"start of a PNG", cut(png, 8), "libpng: "},
      {"half a PNG", cut(png, png.size() / 2), "libpng: "},
      {"a PNG with a changed byte", with(png, png.size() / 2, {0x55, 0xaa, 0x55}), "libpng: "},
      {"a PNG with a changed header", with(png, 16, {0x7f}), "libpng: "},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(refusal(c.bytes), HasSubstr(c.says)) << c.name;
  }
}

TEST(Sample, PngsAreSpreadEvenly) {
  const struct {
    double share;
    int of_sixteen;
  } cases[] = {{0, 0}, {0.125, 2}, {0.25, 4}, {0.5, 8}, {1, 16}};
  for (const auto& c : cases) {
    int count = 0;
    for (int i = 0; i < 16; ++i) {
      count += is_png(i, c.share);
    }
    EXPECT_EQ(count, c.of_sixteen) << c.share;
  }
}

TEST(Sample, IsMadeOfItsNumberAlone) {
  const auto jpeg = make_sample(0, 0.125);
  const auto png = make_sample(7, 0.125);
  EXPECT_EQ(jpeg.sample.name, "000000.jpg");
  EXPECT_EQ(png.sample.name, "000007.png");
  EXPECT_EQ(png.sample.pixels_crc, crc_of(synthetic_image(7)));
  EXPECT_EQ(jpeg.sample.file_crc, make_sample(0, 0.125).sample.file_crc);
  EXPECT_EQ(jpeg.sample.size, jpeg.bytes.size());
}

}  // namespace
}  // namespace fleetbench::images
