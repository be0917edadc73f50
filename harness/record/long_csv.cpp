#include "harness/record/long_csv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <stdexcept>
#include <utility>

#include "harness/record/csv_columns.hpp"
#include "harness/record/csv_metrics.hpp"
#include "harness/record/csv_text.hpp"
#include "harness/record/sample_rows.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::record {
namespace {

class LongCsv {
 public:
  LongCsv() { rows_.steps.number(""); }

  void read(const SourceText& source) {
    file_ = static_cast<int>(rows_.files.size());
    rows_.files.push_back(source.name);
    CsvText csv(source.text);
    if (!csv.next()) {
      return rows_.error("empty", file_, 0, "the file is empty");
    }
    if (!read_header(csv)) {
      return;
    }
    const bool all_valid = simdjson::validate_utf8(source.text);
    bool any = false;
    while (csv.next()) {
      any = true;
      line_ = csv.line();
      if (is_whole(csv) && (all_valid || is_text(csv))) {
        fields_ = &csv.fields();
        read_row();
      }
    }
    if (!any) {
      rows_.error("no_rows", file_, 0, "there is a header and nothing else");
    }
  }

  ImportedSamples samples() && { return assemble(std::move(rows_)); }

 private:
  // False where the rows below cannot be understood.
  bool read_header(const CsvText& csv) {
    line_ = csv.line();
    if (csv.fault() != CsvText::Fault::none) {
      error("bad_row", "the header has a quote that is out of place or never closed");
      return false;
    }
    if (!is_text(csv)) {
      return false;
    }
    columns_ = CsvColumns(csv.fields());
    if (!columns_.twice().empty()) {
      error("duplicate_key",
            fmt::format("column {} is there twice", fmt::join(columns_.twice(), ", ")));
      return false;
    }
    const auto missing = columns_.missing();
    if (!missing.empty()) {
      error("missing_column", fmt::format("column {} is missing; there are: {}",
                                          fmt::join(missing, ", "), fmt::join(csv.fields(), ", ")));
      return false;
    }
    for (const std::string& name : columns_.unknown()) {
      rows_.warn("unknown_key", file_, line_, fmt::format("column \"{}\" is not read", name));
    }
    return true;
  }

  bool is_whole(const CsvText& csv) {
    if (csv.fault() == CsvText::Fault::open_quote) {
      error("truncated", "a quote is opened and never closed");
    } else if (csv.fault() == CsvText::Fault::stray_quote) {
      error("bad_row", "a quote is out of place: put the field in quotes and double those in it");
    } else if (csv.fields().size() != columns_.width()) {
      error("bad_row",
            fmt::format("{} fields, the header has {}", csv.fields().size(), columns_.width()));
    } else {
      return true;
    }
    return false;
  }

  bool is_text(const CsvText& csv) {
    const bool valid = std::ranges::all_of(
        csv.fields(), [](std::string_view field) { return simdjson::validate_utf8(field); });
    if (!valid) {
      error("encoding", "the line is not UTF-8");
    }
    return valid;
  }

  std::string_view field(Column column) const { return columns_.field(*fields_, column); }

  void read_row() {
    const std::string_view node = field(Column::node);
    const std::string_view peer = field(Column::peer);
    if (node.empty()) {
      return error("no_node", "node is empty");
    }
    if (field(Column::metric).empty()) {
      return error("no_metric", "metric is empty");
    }
    for (std::size_t i = 0; i < kColumnNames.size(); ++i) {
      const std::string_view text = field(static_cast<Column>(i));
      if (text.size() > kLongestName) {
        return error("bad_row", too_long(kColumnNames[i], text));
      }
    }
    if (peer == node) {
      return error("bad_row", fmt::format("node {} is its own peer", node));
    }
    SampleRow row;
    row.file = file_;
    row.line = line_;
    if (!read_status(row) || !read_pass(row) || !read_value(row)) {
      return;
    }
    row.metric =
        metrics_.number_of({file_, line_, node, field(Column::metric), field(Column::rail),
                            field(Column::unit), field(Column::better), field(Column::layer)});
    if (row.metric == kNone) {
      return;
    }
    const std::string_view device = field(Column::device);
    row.node = rows_.nodes.number(node);
    row.device = device.empty() ? kNone : rows_.devices.number(device);
    row.peer = peer.empty() ? kNone : rows_.nodes.number(peer);
    read_cohort(row.node);
    rows_.rows.push_back(row);
  }

  bool read_status(SampleRow& row) {
    const std::string_view text = field(Column::status);
    if (text.empty()) {
      return true;
    }
    try {
      row.status = parse_status(in_lower_case(text));
    } catch (const std::invalid_argument& wrong) {
      error("unknown_status", wrong.what());
      return false;
    }
    return true;
  }

  bool read_pass(SampleRow& row) {
    const std::string_view text = field(Column::pass);
    if (text.empty()) {
      return true;
    }
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), row.pass);
    if (wrong != std::errc() || end != text.data() + text.size() || row.pass == kNoPass) {
      error("bad_number", fmt::format("pass \"{}\" is not a whole number", text));
      return false;
    }
    return true;
  }

  bool read_value(SampleRow& row) {
    const std::string_view text = field(Column::value);
    if (row.status != Status::ok) {
      keep_reason(row);
      return true;
    }
    const auto number = finite_number(text);
    if (number) {
      row.value = *number;
      return true;
    }
    const std::string what = fmt::format("{} on {}", field(Column::metric), field(Column::node));
    if (text.empty()) {
      error("no_value", what +
                            ": the value is empty; say why in a column \"status\": failed, "
                            "timeout or wrong");
    } else {
      error("bad_number", fmt::format("{}: value \"{}\" is not a finite number; write it as "
                                      "12345.5 or 1.2e4, without unit or separators",
                                      what, text));
    }
    return false;
  }

  void keep_reason(SampleRow& row) {
    // A wrong result may have come at a certain speed.
    if (!field(Column::value).empty() && row.status != Status::wrong) {
      rows_.warn("conflict", file_, line_,
                 fmt::format("a value beside status {}; it is not used", to_string(row.status)));
    }
    row.reason = rows_.reason(fmt::format("{} has status {} ({}:{})", field(Column::metric),
                                          to_string(row.status), rows_.files.back(), line_));
  }

  void read_cohort(int node) {
    const std::string_view text = field(Column::cohort);
    if (text.empty()) {
      return;
    }
    if (static_cast<int>(rows_.cohorts.size()) <= node) {
      rows_.cohorts.resize(static_cast<std::size_t>(node) + 1);
    }
    std::string& known = rows_.cohorts[static_cast<std::size_t>(node)];
    if (known.empty()) {
      known = text;
    } else if (known != text && conflicting_cohorts_.insert(node).second) {
      rows_.warn("conflict", file_, line_,
                 fmt::format("node {}: cohort is {} here, and {} before; that counts",
                             rows_.nodes.name(node), text, known));
    }
  }

  void error(std::string kind, std::string message) {
    rows_.error(std::move(kind), file_, line_, std::move(message));
  }

  SampleRows rows_;
  CsvMetrics metrics_{rows_};
  CsvColumns columns_{{}};
  std::set<int> conflicting_cohorts_;
  int file_ = 0;
  int line_ = 0;
  const std::vector<std::string_view>* fields_ = nullptr;
};

}  // namespace

ImportedSamples read_long_csv(std::vector<SourceText> files) {
  LongCsv reader;
  for (SourceText& file : files) {
    reader.read(std::exchange(file, {}));  // large, and of no more use
  }
  return std::move(reader).samples();
}

bool looks_like_long_csv(std::string_view text) {
  CsvText csv(text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1));
  if (text.empty() || !csv.next() || csv.fault() != CsvText::Fault::none) {
    return false;
  }
  return csv.fields().size() > 1 && CsvColumns(csv.fields()).unknown().size() < csv.fields().size();
}

}  // namespace fleetbench::record
