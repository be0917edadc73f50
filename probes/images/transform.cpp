#include "probes/images/transform.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace fleetbench::images {
namespace {

constexpr double kSmallestArea = 0.08;
constexpr double kWidestRatio = 4.0 / 3.0;
constexpr int kTries = 10;

// 8 bits of pixel, 22 of weight and the sign make 31.
constexpr int kWeightBits = 22;
constexpr int kHalf = 1 << (kWeightBits - 1);

constexpr std::array<float, 3> kMean{0.485F, 0.456F, 0.406F};
constexpr std::array<float, 3> kDeviation{0.229F, 0.224F, 0.225F};

std::uint8_t to_byte(int sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> kWeightBits, 0, 255));
}

// The middle, as large as the ratios allow.
CropBox middle(int width, int height) {
  CropBox box{.width = width, .height = height};
  if (width > height * kWidestRatio) {
    box.width = static_cast<int>(std::lround(height * kWidestRatio));
  } else if (height > width * kWidestRatio) {
    box.height = static_cast<int>(std::lround(width * kWidestRatio));
  }
  box.left = (width - box.width) / 2;
  box.top = (height - box.height) / 2;
  return box;
}

}  // namespace

CropBox random_crop(Random& random, int width, int height) {
  for (int i = 0; i < kTries; ++i) {
    const double area = random.uniform(kSmallestArea, 1) * width * height;
    const double ratio = std::exp(random.uniform(-std::log(kWidestRatio), std::log(kWidestRatio)));
    const auto w = static_cast<int>(std::lround(std::sqrt(area * ratio)));
    const auto h = static_cast<int>(std::lround(std::sqrt(area / ratio)));
    if (w > 0 && w <= width && h > 0 && h <= height) {
      const int left = random.below(width - w + 1);
      return {.left = left, .top = random.below(height - h + 1), .width = w, .height = h};
    }
  }
  return middle(width, height);
}

std::span<const std::uint8_t> Resizer::resize(const Picture& picture, const CropBox& box) {
  make_taps(across_, box.width);
  make_taps(down_, box.height);
  shrink_rows(picture, box);
  shrink_columns();
  return result_;
}

void Resizer::make_taps(Taps& taps, int length) const {
  const double scale = static_cast<double>(length) / size_;
  const double reach = std::max(scale, 1.0);
  const auto size = static_cast<std::size_t>(size_);
  taps.most = 2 * static_cast<int>(std::ceil(reach)) + 1;
  taps.first.resize(size);
  taps.count.resize(size);
  taps.weights.assign(size * static_cast<std::size_t>(taps.most), 0);
  std::vector<double> shares(static_cast<std::size_t>(taps.most));
  for (std::size_t i = 0; i < size; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    const int first = std::max(0, static_cast<int>(centre - reach + 0.5));
    const int last = std::min(length, static_cast<int>(centre + reach + 0.5));
    double sum = 0;
    for (int k = first; k < last; ++k) {
      const double share = std::max(0.0, 1 - std::abs((k - centre + 0.5) / reach));
      shares[static_cast<std::size_t>(k - first)] = share;
      sum += share;
    }
    taps.first[i] = first;
    taps.count[i] = last - first;
    int* weights = taps.weights.data() + i * static_cast<std::size_t>(taps.most);
    for (int k = 0; k < last - first; ++k) {
      weights[k] = static_cast<int>(
          std::lround(shares[static_cast<std::size_t>(k)] / sum * (1 << kWeightBits)));
    }
  }
}

void Resizer::shrink_rows(const Picture& picture, const CropBox& box) {
  const auto size = static_cast<std::size_t>(size_);
  narrow_.resize(3 * size * static_cast<std::size_t>(box.height));
  std::uint8_t* out = narrow_.data();
  for (int y = box.top; y < box.top + box.height; ++y) {
    const std::uint8_t* row =
        picture.rgb.data() + (static_cast<std::ptrdiff_t>(y) * picture.width + box.left) * 3;
    for (std::size_t x = 0; x < size; ++x) {
      const std::uint8_t* pixel = row + std::ptrdiff_t{3} * across_.first[x];
      const int* weights = across_.weights.data() + x * static_cast<std::size_t>(across_.most);
      int red = kHalf;
      int green = kHalf;
      int blue = kHalf;
      for (int k = 0; k < across_.count[x]; ++k, pixel += 3) {
        red += pixel[0] * weights[k];
        green += pixel[1] * weights[k];
        blue += pixel[2] * weights[k];
      }
      *out++ = to_byte(red);
      *out++ = to_byte(green);
      *out++ = to_byte(blue);
    }
  }
}

void Resizer::shrink_columns() {
  const std::size_t row_bytes = std::size_t{3} * static_cast<std::size_t>(size_);
  result_.resize(row_bytes * static_cast<std::size_t>(size_));
  sums_.resize(row_bytes);
  for (std::size_t y = 0; y < static_cast<std::size_t>(size_); ++y) {
    std::fill(sums_.begin(), sums_.end(), kHalf);
    const int* weights = down_.weights.data() + y * static_cast<std::size_t>(down_.most);
    for (int k = 0; k < down_.count[y]; ++k) {
      const std::uint8_t* row =
          narrow_.data() + static_cast<std::size_t>(down_.first[y] + k) * row_bytes;
      for (std::size_t i = 0; i < row_bytes; ++i) {
        sums_[i] += row[i] * weights[k];
      }
    }
    std::transform(sums_.begin(), sums_.end(), result_.data() + y * row_bytes, to_byte);
  }
}

void normalise(std::span<const std::uint8_t> rgb, int size, bool flip, std::span<float> tensor) {
  const auto side = static_cast<std::size_t>(size);
  for (std::size_t colour = 0; colour < 3; ++colour) {
    const float scale = 1 / (255 * kDeviation[colour]);
    const float shift = kMean[colour] / kDeviation[colour];
    float* out = tensor.data() + colour * side * side;
    for (std::size_t y = 0; y < side; ++y) {
      const std::uint8_t* row = rgb.data() + y * side * 3 + colour;
      for (std::size_t x = 0; x < side; ++x) {
        const std::size_t from = flip ? side - 1 - x : x;
        *out++ = static_cast<float>(row[from * 3]) * scale - shift;
      }
    }
  }
}

}  // namespace fleetbench::images
