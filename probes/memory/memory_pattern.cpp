#include "probes/memory/memory_pattern.hpp"

#include <fmt/format.h>

#include <bit>

namespace fleetbench {
namespace {

// 2^64 / golden ratio: neighbouring indices give words that differ in half of their bits
// (multiplicative hashing, D. Knuth, TAOCP 3, 6.4). Low bits of a product know low bits of the
// index only, hence the rotation.
constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;

}  // namespace

std::uint64_t pattern_word(const MemoryPattern& pattern, std::size_t index) {
  const std::uint64_t product = (index + 1) * kGolden;
  const std::uint64_t word = product ^ std::rotl(product, 32) ^ (pattern.round * kGolden);
  return pattern.complement ? ~word : word;
}

void write_pattern(const MemoryPattern& pattern, std::span<std::uint64_t> words,
                   std::size_t first) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = pattern_word(pattern, first + i);
  }
}

std::optional<FalseWord> first_false_word(const MemoryPattern& pattern,
                                          std::span<const std::uint64_t> words, std::size_t first) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint64_t got = words[i];
    const std::uint64_t expected = pattern_word(pattern, first + i);
    if (got != expected) {
      return FalseWord{.index = first + i, .expected = expected, .got = got};
    }
  }
  return std::nullopt;
}

std::string describe(const FalseWord& word) {
  const int bits = std::popcount(word.expected ^ word.got);
  return fmt::format("byte {} of it: expected {:#018x}, got {:#018x}, {} bit{}",
                     word.index * sizeof(std::uint64_t), word.expected, word.got, bits,
                     bits == 1 ? " differs" : "s differ");
}

}  // namespace fleetbench
