#include "probes/text/generated_text.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace fleetbench {
namespace {

constexpr std::size_t kVocabulary = 20000;
constexpr std::uint64_t kLanguageSeed = 20221129;
constexpr std::uint64_t kMedianWords = 300;

// 1000 x the quantiles 0.005, 1/32, 2/32 ... 31/32, 0.995 of the log-normal distribution with
// median 1 and sigma 1. A table, since exp() may differ in the last bit from machine to machine.
constexpr std::array<std::uint64_t, 33> kLogNormalQuantiles{
    76,   155,  216,  268,  317,  364,  412,  460,  509,  560,  613,
    669,  727,  789,  854,  925,  1000, 1082, 1170, 1268, 1375, 1495,
    1630, 1784, 1963, 2174, 2428, 2746, 3159, 3736, 4637, 6441, 13142};

struct Sounds {
  std::vector<std::string_view> onsets;
  std::vector<std::string_view> nuclei;
  std::vector<std::string_view> codas;
};

const Sounds kLatin{{"",  "b", "c", "d", "f",  "g",  "h",  "k",  "l",  "m",  "n",  "p",  "r",
                     "s", "t", "v", "w", "st", "tr", "pl", "br", "cl", "gr", "sh", "th", "qu"},
                    {"a", "e", "i", "o", "u", "a", "e", "i", "o", "ai", "ea", "ou", "io"},
                    {"", "", "", "n", "r", "s", "t", "l", "nd", "st", "ng", "ck", "m"}};
const Sounds kAccented{{"b", "d", "f", "g", "k", "l", "m", "n", "r", "s", "t", "ç", "ñ"},
                       {"é", "è", "ä", "ö", "ü", "ø", "å", "a", "e", "o"},
                       {"", "n", "r", "s", "ß", "l"}};
const Sounds kCyrillic{{"б", "в", "г", "д", "к", "л", "м", "н", "п", "р", "с", "т"},
                       {"а", "е", "и", "о", "у", "я"},
                       {"", "", "н", "т", "л", "й"}};

// Bias of the modulo: below 2^-40 for the bounds used here.
std::uint64_t below(std::mt19937_64& random, std::uint64_t bound) { return random() % bound; }

bool one_in(std::mt19937_64& random, std::uint64_t n) { return below(random, n) == 0; }

std::string_view any_of(std::mt19937_64& random, const std::vector<std::string_view>& choices) {
  return choices[below(random, choices.size())];
}

std::string new_word(std::mt19937_64& random, std::uint64_t syllables) {
  const std::uint64_t script = below(random, 100);
  const Sounds& sounds = script < 90 ? kLatin : script < 97 ? kAccented : kCyrillic;
  std::string word;
  for (std::uint64_t i = 0; i < syllables; ++i) {
    word.append(any_of(random, sounds.onsets)).append(any_of(random, sounds.nuclei));
  }
  return word.append(any_of(random, sounds.codas));
}

// Frequent words are short, as in languages that people speak. Equal words may appear twice, as
// homonyms do.
std::vector<std::string> new_vocabulary() {
  std::mt19937_64 random(kLanguageSeed);
  std::vector<std::string> words;
  words.reserve(kVocabulary);
  for (std::size_t rank = 0; rank < kVocabulary; ++rank) {
    const std::uint64_t most = rank < 100 ? 1 : rank < 2000 ? 2 : 3;
    words.push_back(new_word(random, 1 + below(random, most) + (rank < 2000 ? 0 : 1)));
  }
  return words;
}

std::vector<std::uint64_t> zipf_weights() {
  std::vector<std::uint64_t> sums;
  sums.reserve(kVocabulary);
  std::uint64_t sum = 0;
  for (std::uint64_t rank = 0; rank < kVocabulary; ++rank) {
    sum += (std::uint64_t{1} << 32) / (rank + 2);
    sums.push_back(sum);
  }
  return sums;
}

std::uint64_t log_normal_words(std::mt19937_64& random) {
  constexpr std::uint64_t kSteps = 1024;  // between two quantiles
  const std::uint64_t at = below(random, (kLogNormalQuantiles.size() - 1) * kSteps);
  const std::uint64_t low = kLogNormalQuantiles[at / kSteps];
  const std::uint64_t high = kLogNormalQuantiles[at / kSteps + 1];
  return kMedianWords * (low * kSteps + (high - low) * (at % kSteps)) / (1000 * kSteps);
}

std::string number(std::mt19937_64& random) {
  if (!one_in(random, 3)) {
    return std::to_string(below(random, 10000));
  }
  std::string digits = std::to_string(below(random, 1000));  // drawn before the fraction
  return digits.append(".").append(std::to_string(below(random, 100)));
}

void capitalise(std::string& text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') {
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  }
}

std::string_view end_of_sentence(std::mt19937_64& random) {
  const std::uint64_t kind = below(random, 20);
  return kind == 0 ? "?" : kind == 1 ? "!" : ".";
}

}  // namespace

GeneratedText::GeneratedText(std::uint64_t seed)
    : random_(seed), vocabulary_(new_vocabulary()), cumulative_weights_(zipf_weights()) {}

const std::string& GeneratedText::word() {
  const std::uint64_t at = below(random_, cumulative_weights_.back());
  const auto found = std::upper_bound(cumulative_weights_.begin(), cumulative_weights_.end(), at);
  return vocabulary_[static_cast<std::size_t>(found - cumulative_weights_.begin())];
}

std::string GeneratedText::sentence(std::uint64_t words) {
  std::string text;
  for (std::uint64_t i = 0; i < words; ++i) {
    if (i > 0) {
      text += one_in(random_, 12) ? ", " : " ";
    }
    if (one_in(random_, 40)) {
      text += number(random_);
    } else {
      text += word();
    }
  }
  capitalise(text);
  return text.append(end_of_sentence(random_));
}

std::string GeneratedText::document() {
  std::string text;
  std::uint64_t left = log_normal_words(random_);
  while (left > 0) {
    if (!text.empty()) {
      text += one_in(random_, 5) ? "\n" : " ";
    }
    const std::uint64_t words = std::min(left, 4 + below(random_, 24));
    text += sentence(words);
    left -= words;
  }
  return text;
}

std::vector<std::string> GeneratedText::documents_of(std::size_t bytes) {
  std::vector<std::string> found;
  for (std::size_t sum = 0; sum < bytes; sum += found.back().size()) {
    found.push_back(document());
  }
  return found;
}

std::vector<std::string> GeneratedText::documents(std::size_t count) {
  std::vector<std::string> found;
  found.reserve(count);
  while (found.size() < count) {
    found.push_back(document());
  }
  return found;
}

}  // namespace fleetbench
