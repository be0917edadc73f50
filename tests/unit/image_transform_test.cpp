// Crop, resize, normalise: against formulas, and a slow resize in double precision.
#include "probes/images/transform.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "probes/images/synthetic_image.hpp"

namespace fleetbench::images {
namespace {

// Weight of pixel `k` of a line of `length` in pixel `i` of `size`, not yet divided by their sum.
double triangle(int k, int i, int length, int size) {
  const double scale = static_cast<double>(length) / size;
  const double reach = std::max(scale, 1.0);
  return std::max(0.0, 1 - std::abs(k + 0.5 - (i + 0.5) * scale) / reach);
}

double slow_resize(const Picture& picture, const CropBox& box, int size, int x, int y, int colour) {
  double sum = 0;
  double weights = 0;
  for (int v = 0; v < box.height; ++v) {
    for (int u = 0; u < box.width; ++u) {
      const double weight = triangle(u, x, box.width, size) * triangle(v, y, box.height, size);
      const auto at = static_cast<std::size_t>((box.top + v) * picture.width + box.left + u) * 3 +
                      static_cast<std::size_t>(colour);
      sum += weight * picture.rgb[at];
      weights += weight;
    }
  }
  return sum / weights;
}

TEST(RandomCrop, LiesInThePictureWhateverItsShape) {
  const std::pair<int, int> sizes[] = {{1, 1}, {1, 1000},  {1000, 1},
                                       {3, 2}, {500, 375}, {4000, 300}};
  for (const auto& [width, height] : sizes) {
    Random random(1);
    for (int i = 0; i < 500; ++i) {
      const CropBox box = random_crop(random, width, height);
      ASSERT_GE(box.left, 0);
      ASSERT_GE(box.top, 0);
      ASSERT_GT(box.width, 0);
      ASSERT_GT(box.height, 0);
      ASSERT_LE(box.left + box.width, width);
      ASSERT_LE(box.top + box.height, height);
    }
  }
}

TEST(RandomCrop, HasTheAreasAndRatiosOfTorchvision) {
  Random random(2);
  double smallest = 1;
  double largest = 0;
  for (int i = 0; i < 2000; ++i) {
    const CropBox box = random_crop(random, 500, 375);
    const double area = box.width * box.height / (500.0 * 375);
    const double ratio = static_cast<double>(box.width) / box.height;
    smallest = std::min(smallest, area);
    largest = std::max(largest, area);
    ASSERT_GT(ratio, 3.0 / 4 * 0.98);
    ASSERT_LT(ratio, 4.0 / 3 * 1.02);
  }
  EXPECT_NEAR(smallest, 0.08, 0.02);
  EXPECT_GT(largest, 0.9);
}

TEST(Resizer, LeavesAPictureOfItsSizeAlone) {
  const Picture picture = synthetic_image(1);
  const CropBox box{.left = 10, .top = 20, .width = 64, .height = 64};
  Resizer resizer(64);
  const auto result = resizer.resize(picture, box);
  for (int y = 0; y < 64; ++y) {
    const auto* row = picture.rgb.data() + ((20 + y) * picture.width + 10) * 3;
    ASSERT_TRUE(std::equal(row, row + 64 * 3, result.begin() + y * 64 * 3)) << y;
  }
}

TEST(Resizer, DoesWhatTheFormulaSays) {
  const Picture picture = synthetic_image(2);
  const CropBox boxes[] = {{.left = 0, .top = 0, .width = 90, .height = 70},
                           {.left = 31, .top = 17, .width = 41, .height = 100},
                           {.left = 5, .top = 5, .width = 7, .height = 3},
                           {.left = 9, .top = 9, .width = 1, .height = 1}};
  constexpr int kSize = 24;
  Resizer resizer(kSize);
  for (const CropBox& box : boxes) {
    const auto result = resizer.resize(picture, box);
    for (int i = 0; i < kSize * kSize * 3; i += 7) {
      const int pixel = i / 3;
      // One rounding in each pass.
      ASSERT_NEAR(result[static_cast<std::size_t>(i)],
                  slow_resize(picture, box, kSize, pixel % kSize, pixel / kSize, i % 3), 1.01)
          << box.width << " x " << box.height << " at " << i;
    }
  }
}

TEST(Resizer, KeepsWhiteWhite) {
  Picture picture;
  picture.resize(301, 203);
  std::fill(picture.rgb.begin(), picture.rgb.end(), std::uint8_t{255});
  for (const int size : {1, 50, 224, 400}) {
    Resizer resizer(size);
    const auto result = resizer.resize(picture, {.left = 0, .top = 0, .width = 301, .height = 203});
    EXPECT_TRUE(std::all_of(result.begin(), result.end(), [](auto v) { return v == 255; })) << size;
  }
}

TEST(Normalise, ScalesMirrorsAndSeparatesColours) {
  const std::vector<std::uint8_t> rgb{0, 10, 20, 255, 110, 120, 30, 40, 50, 130, 140, 150};
  std::vector<float> straight(12);
  std::vector<float> mirrored(12);
  normalise(rgb, 2, false, straight);
  normalise(rgb, 2, true, mirrored);
  EXPECT_NEAR(straight[0], (0 - 0.485) / 0.229, 1e-5);
  EXPECT_NEAR(straight[1], (1 - 0.485) / 0.229, 1e-5);
  EXPECT_NEAR(straight[4], (10 / 255.0 - 0.456) / 0.224, 1e-5);
  EXPECT_NEAR(straight[11], (150 / 255.0 - 0.406) / 0.225, 1e-5);
  for (std::size_t i = 0; i < 12; i += 2) {
    EXPECT_EQ(mirrored[i], straight[i + 1]);
    EXPECT_EQ(mirrored[i + 1], straight[i]);
  }
}

}  // namespace
}  // namespace fleetbench::images
