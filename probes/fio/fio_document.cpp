#include "probes/fio/fio_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "probes/support/printable.hpp"
#include "probes/support/text_fields.hpp"

namespace fleetbench {
namespace {

// A text with more open ends than this is no output of fio; each costs one look at the rest of it.
constexpr int kMaxOpenEnds = 16;
constexpr std::array<std::string_view, 4> kNoNumbers = {"-nan", "nan", "-inf", "inf"};

struct Extent {
  std::size_t end = 0;  // behind the closing brace; 0 where there is none
  bool too_deep = false;
  std::string json;  // the same with null for what is no number
};

std::string_view no_number_at(std::string_view rest) {
  for (const std::string_view word : kNoNumbers) {
    if (rest.starts_with(word)) {
      return word;
    }
  }
  return {};
}

// The end of the string whose opening quote is at `at`: behind the closing one.
std::size_t behind_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

Extent extent_of_object(std::string_view text, std::size_t begin) {
  Extent extent;
  int depth = 0;
  for (std::size_t at = begin; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      const std::size_t end = behind_string(text, at);
      extent.json += printable_text(text.substr(at, end - at));  // a file's name may be no UTF-8
      at = end;
      continue;
    }
    if (const auto word = no_number_at(text.substr(at)); !word.empty()) {
      extent.json += "null";
      at += word.size();
      continue;
    }
    extent.json += c;
    ++at;
    depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
    if (depth > kMaxFioDepth) {
      extent.too_deep = true;
      return extent;
    }
    if (depth == 0) {
      extent.end = at;
      return extent;
    }
  }
  return extent;
}

// The next '{' that is the first thing on a line, with a key or nothing after it. One look at each
// line: a line of millions of braces costs no more than another.
std::size_t next_candidate(std::string_view text, std::size_t from) {
  std::size_t line = from;
  if (from > 0 && from < text.size() && text[from - 1] != '\n') {
    line = text.find('\n', from);
  }
  while (line < text.size()) {
    const std::size_t at = text.find_first_not_of(" \t\r\n", line);
    if (at == std::string_view::npos) {
      break;
    }
    const std::size_t next =
        text[at] == '{' ? text.find_first_not_of(" \t\r\n", at + 1) : std::string_view::npos;
    if (text[at] == '{' && (next == std::string_view::npos || text[next] == '"')) {
      return at;
    }
    line = text.find('\n', at);
  }
  return std::string_view::npos;
}

FioDocument problem(std::string kind, std::string words, std::size_t at) {
  return {.problem_kind = std::move(kind), .problem = std::move(words), .problem_at = at};
}

bool is_of_fio(std::string_view text) {
  return text.find("\"fio version\"") != std::string_view::npos ||
         text.find("\"jobs\"") != std::string_view::npos;
}

// What is wrong with an object that begins at `at`; nothing where it is fio's, which is then
// `found`.
FioDocument read_object(const Extent& extent, std::string_view text, std::size_t at) {
  const auto shown = text.substr(at, extent.end == 0 ? std::string_view::npos : extent.end - at);
  if (extent.too_deep) {
    return problem("too_many", fmt::format("nested more than {} deep", kMaxFioDepth), at);
  }
  if (extent.end == 0) {
    return is_of_fio(shown) ? problem("truncated", "fio's JSON ends in the middle", at)
                            : problem("no_rows", "", at);
  }
  auto json = nlohmann::json::parse(extent.json, nullptr, false);
  if (json.is_discarded()) {
    return is_of_fio(shown) ? problem("bad_line", "fio's JSON cannot be read", at)
                            : problem("no_rows", "", at);
  }
  if (!json.contains("jobs")) {
    return problem("no_rows", "", at);
  }
  return {.json = std::move(json), .begin = at, .end = extent.end};
}

}  // namespace

FioDocument find_fio_document(std::string_view text) {
  if (text.size() > kMaxFioText_bytes) {
    return problem("too_many", fmt::format("{} bytes are more than fio ever writes", text.size()),
                   0);
  }
  if (trimmed(text).empty()) {
    return problem("empty", "fio wrote nothing", 0);
  }
  FioDocument last = problem("no_rows", "there is no JSON of fio in its output", 0);
  int open_ends = 0;
  for (std::size_t at = next_candidate(text, 0);
       at != std::string_view::npos && open_ends < kMaxOpenEnds;) {
    const Extent extent = extent_of_object(text, at);
    FioDocument document = read_object(extent, text, at);
    if (!document.json.is_null()) {
      return document;
    }
    if (!document.problem.empty() && last.problem_kind == "no_rows") {
      last = std::move(document);
    }
    open_ends += extent.end == 0 ? 1 : 0;
    at = next_candidate(text, std::max(extent.end, at + 1));
  }
  return last;
}

int line_of(std::string_view text, std::size_t byte) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size()));
  return 1 + static_cast<int>(std::count(text.begin(), end, '\n'));
}

}  // namespace fleetbench
