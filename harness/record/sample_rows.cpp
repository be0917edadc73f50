#include "harness/record/sample_rows.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "results-schema/check.hpp"

namespace fleetbench::record {

int NameTable::number(std::string_view name) {
  if (const auto found = numbers_.find(name); found != numbers_.end()) {
    return found->second;
  }
  const int next = size();
  numbers_.emplace(name, next);
  names_.emplace_back(name);
  return next;
}

std::optional<int> NameTable::find(std::string_view name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

void SampleRows::error(std::string kind, int file, int line, std::string message) {
  errors.add({std::move(kind), files.at(static_cast<std::size_t>(file)), line, std::move(message)});
}

void SampleRows::warn(std::string kind, int file, int line, std::string message) {
  warnings.add(
      {std::move(kind), files.at(static_cast<std::size_t>(file)), line, std::move(message)});
}

int SampleRows::reason(std::string text) {
  reasons.push_back(std::move(text));
  return static_cast<int>(reasons.size()) - 1;
}

std::string too_long(std::string_view what, std::string_view name) {
  constexpr std::size_t kShown = 40;
  return fmt::format("{} is {} bytes long, at most {} are read: \"{}...\"", what, name.size(),
                     kLongestName, name.substr(0, kShown));
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::optional<double> finite_number(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+') && !text.starts_with("+-")) {
    text.remove_prefix(1);  // from_chars does not know it
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

}  // namespace fleetbench::record
