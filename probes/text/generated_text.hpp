// Text that looks like a language to a tokeniser, made by a program: nothing to download, and the
// same on every machine.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace fleetbench {

// Documents of a made-up language: pronounceable words drawn by Zipf's law (the word of rank r as
// often as 1/(r + 2)), short ones more often; some with letters outside ASCII, some in Cyrillic,
// some numbers; sentences with capitals and punctuation; paragraphs between line feeds; lengths in
// words log-normal with median 300 and sigma 1, cut at the 0.5 % tails.
//
// The language is always the same; `seed` chooses the documents. Integers only: the result depends
// neither on the maths library nor on the C++ library. Always valid UTF-8 without control
// characters other than line feeds. Not to be used from two threads.
class GeneratedText {
 public:
  explicit GeneratedText(std::uint64_t seed);

  std::string document();
  // One after another until they hold at least `bytes`.
  std::vector<std::string> documents_of(std::size_t bytes);
  std::vector<std::string> documents(std::size_t count);

 private:
  using Random = std::mt19937_64;

  const std::string& word();
  std::string sentence(std::uint64_t words);

  Random random_;
  std::vector<std::string> vocabulary_;
  std::vector<std::uint64_t> cumulative_weights_;
};

}  // namespace fleetbench
