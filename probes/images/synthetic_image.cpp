#include "probes/images/synthetic_image.hpp"

#include <algorithm>
#include <array>

#include "probes/images/random.hpp"

namespace fleetbench::images {
namespace {

struct Size {
  int width;
  int height;
};

// 187,000 pixels on average. The last one, at the average, is what `image % 8 == 7` gets.
constexpr std::array<Size, kSizesInAGroup> kSizes{{{500, 333},
                                                   {375, 500},
                                                   {640, 480},
                                                   {400, 300},
                                                   {333, 500},
                                                   {500, 375},
                                                   {480, 360},
                                                   {500, 375}}};
constexpr int kJitterPercent = 3;

// Amplitudes of noise in 1/16 of a grey level, from cells of one pixel to cells of 64. Those of
// brightness are such that a JPEG of quality 90 has ImageNet's 110 kB on average; colour is
// smoother than brightness, as it is in photographs.
constexpr std::array<int, 7> kBrightness{530, 470, 440, 450, 500, 620, 1100};
constexpr std::array<int, 7> kColour{0, 0, 40, 80, 130, 200, 300};

struct Plane {
  int width = 0;
  int height = 0;
  std::vector<int> values;

  Plane(int w, int h)
      : width(w), height(h), values(static_cast<std::size_t>(w) * static_cast<std::size_t>(h)) {}
  const int* row(int y) const {
    return values.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
  }
};

void add_noise(Plane& plane, int amplitude, Random& random) {
  if (amplitude == 0) {
    return;
  }
  std::uint64_t bits = 0;
  int left = 0;
  for (int& value : plane.values) {
    if (left == 0) {
      bits = random();
      left = 8;
    }
    value += (static_cast<int>(bits & 0xffU) - 128) * amplitude / 128;
    bits >>= 8U;
    --left;
  }
}

// Between every two values of `coarse` their mean.
Plane twice_as_fine(const Plane& coarse, int width, int height) {
  Plane fine(width, height);
  int* out = fine.values.data();
  for (int y = 0; y < height; ++y) {
    const int* above = coarse.row(y / 2);
    const int* below = coarse.row((y + 1) / 2);
    for (int x = 0; x < width; ++x) {
      const int left = x / 2;
      const int right = (x + 1) / 2;
      *out++ = (above[left] + above[right] + below[left] + below[right]) / 4;
    }
  }
  return fine;
}

// From the coarsest level down, each half as coarse as the one before.
Plane pyramid(Size size, const std::array<int, 7>& amplitudes, Random& random) {
  std::array<Size, 7> sizes{};
  sizes[0] = size;
  for (std::size_t level = 1; level < sizes.size(); ++level) {
    sizes[level] = {sizes[level - 1].width / 2 + 1, sizes[level - 1].height / 2 + 1};
  }
  Plane plane(sizes.back().width, sizes.back().height);
  add_noise(plane, amplitudes.back(), random);
  for (std::size_t level = sizes.size() - 1; level-- > 0;) {
    plane = twice_as_fine(plane, sizes[level].width, sizes[level].height);
    add_noise(plane, amplitudes[level], random);
  }
  return plane;
}

std::uint8_t to_byte(int sixteenths) {
  return static_cast<std::uint8_t>(std::clamp(128 + sixteenths / 16, 0, 255));
}

int jittered(int length, Random& random) {
  const int most = length * kJitterPercent / 100;
  return length - most + random.below(2 * most + 1);
}

}  // namespace

Picture synthetic_image(std::uint64_t number) {
  Random random(number);
  const Size nominal = kSizes[number % kSizes.size()];
  const int width = jittered(nominal.width, random);
  const Size size{width, jittered(nominal.height, random)};
  const Plane brightness = pyramid(size, kBrightness, random);
  const Plane reddish = pyramid(size, kColour, random);
  const Plane bluish = pyramid(size, kColour, random);
  Picture picture;
  picture.resize(size.width, size.height);
  std::uint8_t* out = picture.rgb.data();
  for (std::size_t i = 0; i < brightness.values.size(); ++i) {
    const int y = brightness.values[i];
    const int r = reddish.values[i];
    const int b = bluish.values[i];
    *out++ = to_byte(y + r);
    *out++ = to_byte(y - (r + b) / 4);
    *out++ = to_byte(y + b);
  }
  return picture;
}

}  // namespace fleetbench::images
