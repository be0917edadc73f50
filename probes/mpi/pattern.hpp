// Bytes that a receiver can check without having seen them. PURE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace fleetbench {

struct ByteMismatch {
  std::size_t offset = 0;
  std::byte expected{};
  std::byte got{};
};

// Every byte depends on its offset and on `seed`, so a message that is lost, shifted, doubled, or
// that comes from somebody else is seen.
void fill_pattern(std::span<std::byte> bytes, std::uint64_t seed);

// The first byte that fill_pattern(bytes, seed) would not have written; nothing where all are
// right.
std::optional<ByteMismatch> first_mismatch(std::span<const std::byte> bytes, std::uint64_t seed);

}  // namespace fleetbench
