#include "probes/mpi/pattern.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace fleetbench {
namespace {

using Word = std::array<std::byte, sizeof(std::uint64_t)>;

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
Word pattern_word(std::uint64_t seed, std::size_t index) {
  std::uint64_t z = seed * 0xd1342543de82ef95ULL + (index + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  z ^= z >> 31;
  Word word;
  std::memcpy(word.data(), &z, word.size());
  return word;
}

}  // namespace

void fill_pattern(std::span<std::byte> bytes, std::uint64_t seed) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Word)) {
    const Word word = pattern_word(seed, at / sizeof(Word));
    std::memcpy(bytes.data() + at, word.data(), std::min(sizeof(Word), bytes.size() - at));
  }
}

std::optional<ByteMismatch> first_mismatch(std::span<const std::byte> bytes, std::uint64_t seed) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Word)) {
    const Word word = pattern_word(seed, at / sizeof(Word));
    const std::size_t length = std::min(sizeof(Word), bytes.size() - at);
    if (std::memcmp(bytes.data() + at, word.data(), length) == 0) {
      continue;
    }
    for (std::size_t i = 0; i < length; ++i) {
      if (bytes[at + i] != word[i]) {
        return ByteMismatch{at + i, word[i], bytes[at + i]};
      }
    }
  }
  return std::nullopt;
}

}  // namespace fleetbench
