// Does memory keep what is written to it?
//
// Each word gets a value that depends on where it stands, so that a false address line shows as
// well as a bit that is stuck; and then the complement of that value, so that every bit has been 0
// and 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace fleetbench {

struct MemoryPattern {
  std::uint64_t round = 0;  // another value for every word
  bool complement = false;
};

struct FalseWord {
  std::size_t index = 0;
  std::uint64_t expected = 0;
  std::uint64_t got = 0;
};

// What the word at `index` of all that is checked is to hold.
std::uint64_t pattern_word(const MemoryPattern& pattern, std::size_t index);

// `words` begins at index `first`.
void write_pattern(const MemoryPattern& pattern, std::span<std::uint64_t> words, std::size_t first);
// The first word that does not hold what write_pattern wrote.
std::optional<FalseWord> first_false_word(const MemoryPattern& pattern,
                                          std::span<const std::uint64_t> words, std::size_t first);

// "byte 4096 of it: expected 0x…, got 0x…, 1 bit differs".
std::string describe(const FalseWord& word);

}  // namespace fleetbench
