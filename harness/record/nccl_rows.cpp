#include "harness/record/nccl_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "harness/record/nccl_text.hpp"
#include "harness/record/sample_rows.hpp"

namespace fleetbench::record {
namespace {

// Source: nccl-tests, test_typenames in src/common.cu.
constexpr std::array<std::string_view, 14> kTypes{"float", "half",  "double", "bfloat16", "int8",
                                                  "uint8", "int32", "uint32", "int64",    "uint64",
                                                  "char",  "int",   "f8e4m3", "f8e5m2"};

constexpr std::array<std::string_view, 8> kRedops{"sum", "prod",   "max",  "min",
                                                  "avg", "mulsum", "none", "all"};

bool is_type(std::string_view word) { return std::ranges::find(kTypes, word) != kTypes.end(); }

bool is_whole_number(std::string_view word) {
  std::uint64_t number = 0;
  const auto [end, wrong] = std::from_chars(word.data(), word.data() + word.size(), number);
  return wrong == std::errc() && end == word.data() + word.size();
}

bool may_stand_in(NcclColumn column, std::string_view word) {
  switch (column) {
    case NcclColumn::size:
    case NcclColumn::count:
      return is_whole_number(word);
    case NcclColumn::type:
      return is_type(word);
    case NcclColumn::redop:
      return std::ranges::find(kRedops, word) != kRedops.end();
    case NcclColumn::wrong:
      return word == "N/A" || finite_number(word).has_value();
    case NcclColumn::text:
      return true;
    default:
      return finite_number(word).has_value();
  }
}

// Of the first row that begins on the line.
std::size_t row_begin(const std::vector<std::string_view>& words) {
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    if (is_type(words[i + 2]) && is_whole_number(words[i]) && is_whole_number(words[i + 1])) {
      return i;
    }
  }
  return words.size();
}

double number(const std::string& word) { return finite_number(word).value_or(0); }

std::uint64_t whole_number(const std::string& word) {
  std::uint64_t value = 0;
  std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

NcclRow row_of(const std::vector<NcclColumn>& columns, const std::vector<std::string>& values) {
  NcclRow row;
  int halves = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    halves += columns[i] == NcclColumn::time ? 1 : 0;
    NcclFigure& figure = halves < 2 ? row.out_of_place : row.in_place;
    switch (columns[i]) {
      case NcclColumn::size:
        row.size_bytes = whole_number(values[i]);
        break;
      case NcclColumn::count:
        row.count = whole_number(values[i]);
        break;
      case NcclColumn::type:
        row.type = values[i];
        break;
      case NcclColumn::redop:
        row.redop = values[i];
        break;
      case NcclColumn::root:
        row.root = static_cast<int>(std::clamp(number(values[i]), -1.0, 1e9));
        break;
      case NcclColumn::time:
        figure.time_us = number(values[i]);
        break;
      case NcclColumn::algbw:
        figure.algbw_GB_s = number(values[i]);
        break;
      case NcclColumn::busbw:
        figure.busbw_GB_s = number(values[i]);
        break;
      case NcclColumn::wrong:
        figure.wrong = finite_number(values[i]);
        break;
      default:
        break;
    }
  }
  return row;
}

// Whether size, time and bandwidth belong together. The first nccl-tests print the bus bandwidth
// of some collectives as algbw, which is at least half of it.
bool is_plausible(const NcclRow& row, const NcclFigure& figure) {
  const double algbw = static_cast<double>(row.size_bytes) / figure.time_us * 1e-3;
  return figure.time_us > 0 && figure.algbw_GB_s <= 1.1 * algbw + 0.01 &&
         figure.algbw_GB_s >= 0.45 * algbw - 0.01;
}

}  // namespace

std::vector<NcclColumn> NcclRows::default_columns() {
  using enum NcclColumn;
  return {size, count, type, redop, root, time, algbw, busbw, wrong, time, algbw, busbw, wrong};
}

bool NcclRows::read_header(const std::vector<std::string_view>& words) {
  using enum NcclColumn;
  static const std::map<std::string_view, NcclColumn> kNames{
      {"size", size},    {"count", count}, {"type", type},    {"redop", redop},
      {"root", root},    {"time", time},   {"algbw", algbw},  {"busbw", busbw},
      {"cputime", time}, {"error", wrong}, {"#wrong", wrong}, {"wrong", wrong}};
  columns_.clear();
  for (const std::string_view word : words) {
    const auto found = kNames.find(word);
    columns_.push_back(found != kNames.end() ? found->second : word == "timestamp" ? text : other);
    if (word == "timestamp") {
      columns_.push_back(text);  // date and time
    }
  }
  counts_wrong_ = std::ranges::find(words, "error") == words.end();
  const bool whole = columns_.size() > 2 && columns_[0] == size && columns_[1] == count &&
                     columns_[2] == type && std::ranges::count(columns_, time) == 2 &&
                     std::ranges::count(columns_, algbw) == 2 &&
                     std::ranges::count(columns_, busbw) == 2;
  if (!whole) {
    columns_ = default_columns();
  }
  return whole;
}

bool NcclRows::take(std::string_view line, int number, NcclRun& run) {
  const Words words = words_between_blanks(line);
  const std::size_t begin = row_begin(words);
  bool clean = begin == 0;
  if (open_line() > 0 && begin > 0 && continue_open(words, begin, run)) {
    clean = !glued_;
  }
  if (begin == words.size()) {
    return clean;
  }
  if (open_line() > 0) {
    drop("bad_row", fmt::format("the row is cut off, the next one begins on line {}", number));
  }
  line_ = number;
  glued_ = false;
  pieced_ = false;
  const std::size_t next = fill(words, begin, words.size(), run);
  clean = clean && next == words.size();
  if (open_.size() == columns_.size()) {
    close(words, next, run);
  }
  return clean;
}

// Where the words end that are values of the open row; one that has something else right behind its
// value is not among them.
std::size_t NcclRows::fill(const Words& words, std::size_t begin, std::size_t end,
                           const NcclRun& run) {
  std::size_t i = begin;
  for (; i < end && open_.size() < columns_.size(); ++i) {
    const NcclColumn column = columns_[open_.size()];
    if (!may_stand_in(column, words[i])) {
      const std::string_view value = value_before(words[i], run.ranks);
      glued_ = !value.empty() && may_stand_in(column, value);
      if (glued_) {
        open_.emplace_back(value);
      }
      break;
    }
    open_.emplace_back(words[i]);
  }
  return i;
}

// Nothing is taken where the words before `end` are not all values, up to a line of NCCL's.
bool NcclRows::continue_open(const Words& words, std::size_t end, NcclRun& run) {
  const std::vector<std::string> before = open_;
  glued_ = false;
  const std::size_t next = fill(words, 0, end, run);
  const bool any = open_.size() > before.size();
  if (!any || !(next == end || glued_ || begins_library_line(words[next]))) {
    open_ = before;
    return false;
  }
  pieced_ = true;
  if (open_.size() == columns_.size()) {
    close(words, next, run);
  }
  return true;
}

void NcclRows::close(const Words& words, std::size_t next, NcclRun& run) {
  const NcclRow row = row_of(columns_, open_);
  if (!glued_ && next < words.size() && finite_number(words[next])) {
    return drop("bad_row", "the row has more values than the table has columns");
  }
  if (pieced_ && !(is_plausible(row, row.out_of_place) && is_plausible(row, row.in_place))) {
    return drop("bad_row",
                "the row is in pieces that do not fit together: its bandwidth is not that of its "
                "size and time");
  }
  run.rows.push_back(row);
  run.rows.back().line = line_;
  open_.clear();
}

void NcclRows::drop(std::string kind, std::string message) {
  faults_.push_back({line_, std::move(kind), std::move(message)});
  open_.clear();
}

}  // namespace fleetbench::record
