#include "harness/report/escape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "results-schema/code_point.hpp"

namespace fleetbench::report {
namespace {

void append_escaped(std::string_view bytes, std::string& result) {
  for (const char byte : bytes) {
    if (byte == '\n') {
      result += "\\n";
    } else if (byte == '\t') {
      result += "\\t";
    } else {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    }
  }
}

// As JSON spells a character: beyond U+FFFF as two surrogates.
std::string in_json(char32_t value) {
  if (value <= 0xffff) {
    return fmt::format("\\u{:04x}", static_cast<unsigned>(value));
  }
  const unsigned rest = static_cast<unsigned>(value) - 0x10000U;
  return fmt::format("\\u{:04x}\\u{:04x}", 0xd800U + (rest >> 10U), 0xdc00U + (rest & 0x3ffU));
}

// How many bytes at the end are the beginning of a character.
std::size_t begun_character(std::string_view text) {
  for (std::size_t bytes = 1; bytes <= std::min<std::size_t>(3, text.size()); ++bytes) {
    const auto byte = static_cast<unsigned char>(text[text.size() - bytes]);
    if (byte >= 0xc0) {
      const std::size_t whole = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return byte <= 0xf4 && whole > bytes ? bytes : 0;
    }
    if (byte < 0x80) {
      return 0;
    }
  }
  return 0;
}

}  // namespace

std::string EscapedStream::take(std::string_view piece) {
  const std::string text = std::exchange(begun_, "") + std::string(piece);
  std::string_view rest = text;
  rest.remove_suffix(begun_character(rest));
  begun_ = text.substr(rest.size());
  std::string result;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of("\n\t"), rest.size());
    result += escaped(rest.substr(0, end));
    result += rest.substr(end, 1);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return result;
}

std::string EscapedStream::end() { return escaped(std::exchange(begun_, "")); }

std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    const std::size_t bytes = std::max<std::size_t>(point.bytes, 1);
    if (point.bytes == 0 || steers(point.value)) {
      append_escaped(text.substr(0, bytes), result);
    } else {
      result += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return result;
}

std::string json_text(const Json& document, int indent) {
  // dump() has escaped what is below a space; a line end is its own.
  const std::string dumped = document.dump(indent, ' ', false, Json::error_handler_t::replace);
  std::string result;
  result.reserve(dumped.size());
  for (std::string_view rest = dumped; !rest.empty();) {
    const CodePoint point = first_code_point(rest);
    if (point.value >= 0x7f && steers(point.value)) {
      result += in_json(point.value);
    } else {
      result += rest.substr(0, point.bytes);
    }
    rest.remove_prefix(std::max<std::size_t>(point.bytes, 1));
  }
  return result;
}

std::string_view first_columns(std::string_view text, std::size_t most) {
  std::size_t at = 0;
  for (; at < text.size() && most > 0; --most) {
    at += std::max<std::size_t>(first_code_point(text.substr(at)).bytes, 1);
  }
  return text.substr(0, at);
}

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80;
  }));
}

}  // namespace fleetbench::report
