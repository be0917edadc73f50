// Comma-separated text as RFC 4180 has it: quoted fields may hold commas, line ends and doubled
// quotes; lines end in LF or CRLF.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace fleetbench::record {

class CsvText {
 public:
  // `text` must outlive this. A byte-order mark is passed over.
  explicit CsvText(std::string_view text);

  // The next record that is not an empty line; false at the end. After a fault reading goes on with
  // the line after the one on which the faulty record begins.
  bool next();

  // On which the record begins; the first is 1.
  int line() const { return line_; }
  // Without their quotes; valid until next(). Meaningless after a fault.
  const std::vector<std::string_view>& fields() const { return fields_; }
  enum class Fault { none, stray_quote, open_quote };
  Fault fault() const { return fault_; }

 private:
  bool skip_empty_lines();
  void read_record();
  void read_plain();
  void read_quoted();
  bool at_line_end() const;
  void pass_line_end();
  void give_up_line(Fault fault);

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t begin_ = 0;  // of the record
  int line_ = 0;
  int next_line_ = 1;
  Fault fault_ = Fault::none;
  std::vector<std::string_view> fields_;
  std::deque<std::string> unquoted_;  // fields that had doubled quotes
};

}  // namespace fleetbench::record
