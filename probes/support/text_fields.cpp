#include "probes/support/text_fields.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace fleetbench {

namespace {
constexpr std::string_view kWhiteSpace = " \t\r\n\v\f";
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kWhiteSpace);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kWhiteSpace) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  for (std::size_t end; (end = text.find(separator, start)) != std::string_view::npos;) {
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  parts.push_back(text.substr(start));
  return parts;
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> found;
  std::size_t start = 0;
  while ((start = text.find_first_not_of(kWhiteSpace, start)) != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(kWhiteSpace, start), text.size());
    found.push_back(text.substr(start, end - start));
    start = end;
  }
  return found;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  const std::string_view number = trimmed(text);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size()) {
    return std::nullopt;
  }
  return value;
}

std::optional<double> leading_number(std::string_view text) {
  const std::string_view number = trimmed(text);
  if (number.empty() || number.find_first_of("0123456789") != 0) {  // no "inf", no "nan"
    return std::nullopt;
  }
  double value = 0;
  const auto result = std::from_chars(number.data(), number.data() + number.size(), value,
                                      std::chars_format::fixed);
  return result.ec == std::errc() ? std::optional(value) : std::nullopt;
}

std::optional<std::string> bracketed(std::string_view text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']', open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos) {
    return std::nullopt;
  }
  return std::string(text.substr(open + 1, close - open - 1));
}

std::optional<std::string> field_value(std::string_view text, std::string_view key) {
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && trimmed(line.substr(0, colon)) == key) {
      return std::string(trimmed(line.substr(colon + 1)));
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> field_bytes(std::string_view text, std::string_view key) {
  const std::optional<std::string> value = field_value(text, key);
  if (!value || !value->ends_with("kB")) {
    return std::nullopt;
  }
  const auto kib = parse_integer(std::string_view(*value).substr(0, value->size() - 2));
  if (!kib || *kib < 0 || *kib > std::numeric_limits<std::int64_t>::max() / 1024) {
    return std::nullopt;
  }
  return *kib * 1024;
}

}  // namespace fleetbench
