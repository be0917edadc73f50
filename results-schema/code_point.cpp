#include "results-schema/code_point.hpp"

#include <algorithm>
#include <array>

namespace fleetbench {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

constexpr std::array<Range, 12> kSteering = {{{0, 0x1f},
                                              {0x7f, 0x9f},
                                              {0xad, 0xad},
                                              {0x061c, 0x061c},
                                              {0x180e, 0x180e},
                                              {0x200b, 0x200f},
                                              {0x2028, 0x202e},
                                              {0x2060, 0x206f},
                                              {0xfeff, 0xfeff},
                                              {0xfff9, 0xfffb},
                                              {0x1bca0, 0x1bca3},
                                              {0xe0000, 0xe0fff}}};

std::size_t length_by_first_byte(unsigned char byte) {
  if (byte < 0x80) {
    return 1;
  }
  if (byte >= 0xc2 && byte <= 0xdf) {
    return 2;
  }
  if (byte >= 0xe0 && byte <= 0xef) {
    return 3;
  }
  return byte >= 0xf0 && byte <= 0xf4 ? 4 : 0;
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t bytes = length_by_first_byte(first);
  if (bytes == 0 || bytes > text.size()) {
    return {};
  }
  char32_t value = bytes == 1 ? first : first & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0U) != 0x80) {
      return {};
    }
    value = (value << 6U) | (next & 0x3fU);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  return value < kSmallest[bytes] || surrogate || value > 0x10ffff ? CodePoint{}
                                                                   : CodePoint{value, bytes};
}

bool steers(char32_t value) {
  return std::ranges::any_of(kSteering, [value](const Range& range) {
    return value >= range.first && value <= range.last;
  });
}

}  // namespace fleetbench
