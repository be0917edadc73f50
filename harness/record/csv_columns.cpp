#include "harness/record/csv_columns.hpp"

#include <algorithm>

#include "harness/record/sample_rows.hpp"

namespace fleetbench::record {
namespace {

constexpr std::array kRequired{Column::node, Column::metric, Column::value};

}  // namespace

std::string in_lower_case(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

CsvColumns::CsvColumns(const std::vector<std::string_view>& header) : width_(header.size()) {
  places_.fill(kNone);
  for (std::size_t i = 0; i < header.size(); ++i) {
    const std::string name = in_lower_case(trimmed(header[i]));
    const auto found = std::ranges::find(kColumnNames, name);
    if (found == kColumnNames.end()) {
      unknown_.push_back(name);
      continue;
    }
    int& place = places_[static_cast<std::size_t>(found - kColumnNames.begin())];
    if (place != kNone) {
      twice_.push_back(name);
    }
    place = static_cast<int>(i);
  }
}

std::vector<std::string_view> CsvColumns::missing() const {
  std::vector<std::string_view> names;
  for (const Column column : kRequired) {
    if (places_[static_cast<std::size_t>(column)] == kNone) {
      names.push_back(kColumnNames[static_cast<std::size_t>(column)]);
    }
  }
  return names;
}

std::string_view CsvColumns::field(const std::vector<std::string_view>& fields,
                                   Column column) const {
  const int place = places_[static_cast<std::size_t>(column)];
  return place == kNone ? std::string_view() : trimmed(fields[static_cast<std::size_t>(place)]);
}

}  // namespace fleetbench::record
