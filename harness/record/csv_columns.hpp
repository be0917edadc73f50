// The columns of the long CSV, and one of its rows by the names of its columns.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace fleetbench::record {

enum class Column {
  node,
  metric,
  value,
  device,
  peer,
  rail,
  unit,
  better,
  layer,
  cohort,
  pass,
  status
};

inline constexpr std::array<std::string_view, 12> kColumnNames{
    "node", "metric", "value", "device", "peer", "rail",
    "unit", "better", "layer", "cohort", "pass", "status"};

std::string in_lower_case(std::string_view name);

class CsvColumns {
 public:
  // From the fields of the header, in any case and order; what they are not is in the other lists.
  explicit CsvColumns(const std::vector<std::string_view>& header);

  const std::vector<std::string>& unknown() const { return unknown_; }
  const std::vector<std::string>& twice() const { return twice_; }
  std::vector<std::string_view> missing() const;  // of those that every file must have
  std::size_t width() const { return width_; }

  // Without spaces around it; empty where there is no such column. `fields` are as many as width().
  std::string_view field(const std::vector<std::string_view>& fields, Column column) const;

 private:
  std::array<int, kColumnNames.size()> places_;
  std::size_t width_;
  std::vector<std::string> unknown_;
  std::vector<std::string> twice_;
};

}  // namespace fleetbench::record
