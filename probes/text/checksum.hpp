// Tells whether two machines hold the same bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace fleetbench {

// FNV-1a, 64 bits (G. Fowler, L. C. Noll, K.-P. Vo). Against accidents, not against attackers.
class Checksum {
 public:
  void add(std::string_view bytes) {
    for (const char byte : bytes) {
      add_byte(static_cast<unsigned char>(byte));
    }
  }
  // As four bytes each, the lowest first: the same on every architecture.
  void add(std::span<const std::int32_t> numbers) {
    for (const std::int32_t number : numbers) {
      for (int shift = 0; shift < 32; shift += 8) {
        add_byte(static_cast<unsigned char>(static_cast<std::uint32_t>(number) >> shift));
      }
    }
  }
  // 16 hexadecimal digits.
  std::string text() const {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string digits;
    for (int shift = 60; shift >= 0; shift -= 4) {
      digits += kDigits[(sum_ >> shift) & 15U];
    }
    return digits;
  }

 private:
  void add_byte(unsigned char byte) { sum_ = (sum_ ^ byte) * 0x100000001B3; }

  std::uint64_t sum_ = 0xCBF29CE484222325;
};

}  // namespace fleetbench
