// The words of settings: numbers and parts, checked to the last character.
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>
#include <vector>

#include "tests/gpu_sim/model/faults.hpp"

namespace gpu_sim {

// The parts of `text` between `separator`s, empty ones as well; at most `most` parts, where the
// last holds the rest.
inline std::vector<std::string_view> parts_of(std::string_view text, char separator,
                                              std::size_t most = ~std::size_t{}) {
  std::vector<std::string_view> parts;
  while (parts.size() + 1 < most) {
    const auto end = text.find(separator);
    if (end == std::string_view::npos) {
      break;
    }
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

// All of `text` as a number from `least` to `most`, both included; else BadSetting.
template <typename T>
T number_of(std::string_view text, T least, T most) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= least) ||
      !(value <= most)) {
    throw BadSetting("'" + std::string(text) + "' is no number from " + std::to_string(least) +
                     " to " + std::to_string(most));
  }
  return value;
}

}  // namespace gpu_sim
