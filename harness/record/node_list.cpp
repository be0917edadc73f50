#include "harness/record/node_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>

#include "harness/record/sample_rows.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::record {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::size_t kShown = 60;

[[noreturn]] void fail(std::string_view list, const std::string& why) {
  throw NodeListError(false,
                      fmt::format("\"{}{}\" is no list of nodes, as node[01-03,07]: {}",
                                  list.substr(0, kShown), list.size() > kShown ? "..." : "", why));
}

void require_room(std::size_t nodes) {
  if (nodes > kMostNodesOfList) {
    throw NodeListError(true, fmt::format("more than {} nodes", kMostNodesOfList));
  }
}

std::vector<std::string_view> parts_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
    if (text[i] == ',' && depth <= 0) {
      parts.push_back(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  parts.push_back(trimmed(text.substr(begin)));
  return parts;
}

std::uint64_t number(std::string_view digits, std::string_view list) {
  std::uint64_t value = 0;
  const auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || wrong != std::errc() || end != digits.data() + digits.size() ||
      digits.size() > kLongestName / 2) {
    fail(list, fmt::format("\"{}\" is no number", digits.substr(0, kShown)));
  }
  return value;
}

// What stands between brackets: "001-003,007".
std::vector<std::string> numbers_of(std::string_view ranges, std::string_view list) {
  std::vector<std::string> numbers;
  for (const std::string_view range : parts_at_commas(ranges)) {
    const auto dash = range.find('-');
    const std::string_view first = trimmed(range.substr(0, dash));
    const std::string_view last =
        dash == std::string_view::npos ? first : trimmed(range.substr(dash + 1));
    const std::uint64_t from = number(first, list);
    const std::uint64_t to = number(last, list);
    if (to < from) {
      fail(list, fmt::format("{} is no range", range.substr(0, kShown)));
    }
    require_room(to - from >= kMostNodesOfList ? kMostNodesOfList + 1
                                               : numbers.size() + (to - from) + 1);
    for (std::uint64_t i = 0; i <= to - from; ++i) {
      numbers.push_back(fmt::format("{:0{}}", from + i, first.size()));
    }
  }
  return numbers;
}

std::vector<std::string> followed_by(const std::vector<std::string>& names,
                                     const std::vector<std::string>& ends) {
  require_room(names.size() * ends.size());
  std::vector<std::string> all;
  all.reserve(names.size() * ends.size());
  for (const std::string& name : names) {
    for (const std::string& end : ends) {
      all.push_back(name + end);
    }
  }
  return all;
}

// One entry: text and brackets in turn.
std::vector<std::string> expand_entry(std::string_view entry, std::string_view list) {
  std::vector<std::string> names{""};
  while (!entry.empty()) {
    const std::size_t open = std::min(entry.find_first_of("[]"), entry.size());
    const std::string_view text = entry.substr(0, open);
    if (text.find_first_of(kBlanks) != std::string_view::npos) {
      fail(list, "there is a blank within a name");
    }
    names = followed_by(names, {std::string(text)});
    if (open == entry.size()) {
      break;
    }
    const std::size_t close = entry.find_first_of("[]", open + 1);
    if (entry[open] == ']' || close == std::string_view::npos || entry[close] == '[') {
      fail(list, entry[open] == ']' ? "a bracket is closed and never opened"
                                    : "a bracket is opened and never closed");
    }
    names = followed_by(names, numbers_of(entry.substr(open + 1, close - open - 1), list));
    entry.remove_prefix(close + 1);
  }
  if (names.front().empty() || names.front().size() > kLongestName) {
    fail(list, names.front().empty() ? "a name is empty" : "a name is too long");
  }
  return names;
}

}  // namespace

std::vector<std::string> expand_node_list(std::string_view list) {
  std::vector<std::string> nodes;
  for (const std::string_view entry : parts_at_commas(list)) {
    if (entry.empty()) {
      continue;
    }
    std::vector<std::string> names = expand_entry(entry, list);
    require_room(nodes.size() + names.size());
    std::ranges::move(names, std::back_inserter(nodes));
  }
  return nodes;
}

}  // namespace fleetbench::record
