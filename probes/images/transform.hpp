// What torchvision's usual training transform does to a picture: random resized crop, horizontal
// flip, normalisation.
#pragma once

#include <span>
#include <vector>

#include "probes/images/picture.hpp"
#include "probes/images/random.hpp"

namespace fleetbench::images {

struct CropBox {
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;
};

// As RandomResizedCrop chooses it: 8 to 100 % of the area, sides in a ratio of 3:4 to 4:3 (uniform
// in its logarithm), ten tries, then the middle of the picture. Inside the picture, never empty.
CropBox random_crop(Random& random, int width, int height);

// Scales a part of a picture to `size` x `size`, bilinear, and where it becomes smaller averaged
// over all pixels that fall into one: a triangle filter in two passes of fixed-point numbers, as
// Pillow's resize() with BILINEAR does (Pillow, src/libImaging/Resample.c). One thread.
class Resizer {
 public:
  explicit Resizer(int size) : size_(size) {}
  // The result, 3 x size x size bytes, stands until the next call.
  std::span<const std::uint8_t> resize(const Picture& picture, const CropBox& box);

 private:
  // Which pixels of a line, and how much of each, make each pixel of the result.
  struct Taps {
    int most = 0;            // per pixel of the result
    std::vector<int> first;  // pixel of the line
    std::vector<int> count;
    std::vector<int> weights;  // `most` per pixel; they add up to 1 << kWeightBits
  };

  void make_taps(Taps& taps, int length) const;
  void shrink_rows(const Picture& picture, const CropBox& box);
  void shrink_columns();

  int size_;
  Taps across_;
  Taps down_;
  std::vector<std::uint8_t> narrow_;  // box.height rows of `size_` pixels
  std::vector<int> sums_;
  std::vector<std::uint8_t> result_;
};

// (value / 255 − mean) / standard deviation with ImageNet's figures, red, green and blue plane
// after each other, mirrored left to right where `flip` says so. `tensor` holds 3 x size x size
// values.
void normalise(std::span<const std::uint8_t> rgb, int size, bool flip, std::span<float> tensor);

}  // namespace fleetbench::images
