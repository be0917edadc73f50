#include "harness/report/text_layout.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/report/escape.hpp"

namespace fleetbench::report {
namespace {

std::string_view code(Ink ink) {
  switch (ink) {
    case Ink::bold:
      return "1";
    case Ink::good:
      return "1;32";
    case Ink::doubtful:
      return "1;33";
    case Ink::bad:
      return "1;31";
    case Ink::unknown:
      return "1;35";
    case Ink::faint:
      return "2";
    case Ink::plain:
      break;
  }
  return "";
}

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string padded(const std::string& cell, std::size_t width, bool right) {
  const std::string space(width - std::min(width, columns(cell)), ' ');
  return right ? space + cell : cell + space;
}

std::vector<std::size_t> widths_of(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], columns(row[i]));
    }
  }
  return widths;
}

}  // namespace

std::string inked(std::string_view text, Ink ink, const TextStyle& style) {
  if (!style.colour || ink == Ink::plain) {
    return std::string(text);
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code(ink), text);
}

std::string paragraph(std::string_view first, std::string_view text, const TextStyle& style) {
  const std::string indent(columns(first), ' ');
  const auto width = static_cast<std::size_t>(std::max(style.width, 1));
  std::string result;
  std::string line(first);
  bool empty = true;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!empty && columns(line) + 1 + columns(word) > width) {
      result += without_trailing_spaces(std::move(line)) + "\n";
      line = indent;
      empty = true;
    }
    line += (empty ? "" : " ") + std::string(word);
    empty = false;
  }
  return result + without_trailing_spaces(std::move(line)) + "\n";
}

std::string table(const std::vector<std::vector<std::string>>& rows, std::string_view indent,
                  bool right) {
  const std::vector<std::size_t> widths = widths_of(rows);
  std::string result;
  for (const auto& row : rows) {
    std::string line(indent);
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += (i == 0 ? "" : "  ") + padded(row[i], widths[i], right && i > 0);
    }
    result += without_trailing_spaces(std::move(line)) + "\n";
  }
  return result;
}

}  // namespace fleetbench::report
