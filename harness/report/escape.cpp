#include "harness/report/escape.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fleetbench::report {
namespace {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;  // 0: the text does not start with valid UTF-8
};

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

// Rejects overlong forms, surrogates and what lies beyond U+10FFFF.
CodePoint decode(std::string_view text) {
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
  return value < 0x20 || (value >= 0x7f && value < 0xa0) ||  // C0, DEL, C1
         value == 0x200e || value == 0x200f || value == 0x061c ||
         (value >= 0x2028 && value <= 0x202e) || (value >= 0x2066 && value <= 0x2069);
}

void append_escaped(std::string_view bytes, std::string& result) {
  for (const char byte : bytes) {
    if (byte == '\n') {
      result += "\\n";
    } else if (byte == '\t') {
      result += "\\t";
    } else {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    }
  }
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const CodePoint point = decode(text);
    const std::size_t bytes = std::max<std::size_t>(point.bytes, 1);
    if (point.bytes == 0 || steers(point.value)) {
      append_escaped(text.substr(0, bytes), result);
    } else {
      result += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return result;
}

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80;
  }));
}

}  // namespace fleetbench::report
