#include "harness/record/nccl_log.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <utility>

#include "harness/record/nccl_collective.hpp"
#include "harness/record/nccl_rows.hpp"
#include "harness/record/nccl_text.hpp"
#include "harness/record/sample_rows.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::record {
namespace {

constexpr std::size_t kMostOfAMessage = 200;
constexpr std::array<std::string_view, 2> kFailures{"Test NCCL failure", "Test CUDA failure"};

std::string_view after(std::string_view text, std::string_view key) {
  const auto at = text.find(key);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + key.size());
}

// The number after the colon: "# Avg bus bandwidth    : 20.0279 ".
std::optional<double> footer_value(std::string_view comment) {
  const auto words = words_between_blanks(after(comment, ":"));
  return words.empty() ? std::nullopt : finite_number(words.front());
}

class LogReader {
 public:
  LogReader(const SourceText& source, int file, NcclProblems& problems)
      : source_(source), file_(file), problems_(problems) {}

  std::vector<NcclRun> runs() && {
    const bool all_valid = simdjson::validate_utf8(source_.text);
    std::string_view rest = source_.text;
    while (!rest.empty()) {
      ++line_;
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (all_valid || simdjson::validate_utf8(line)) {
        read_line(without_tag(line));
      } else {
        error(line_, "encoding", "the line is not UTF-8");
      }
    }
    finish();
    if (runs_.empty()) {
      error(0, "no_rows", "there is no test of nccl-tests in this file");
    }
    return std::move(runs_);
  }

 private:
  void read_line(std::string_view line) {
    const std::size_t comment = nccl_comment_begin(line);
    if (comment > 0 && line[0] != '#') {
      read_text(line.substr(0, comment));
    }
    if (comment < line.size()) {
      read_comment(trimmed(line.substr(comment + 1)), line.substr(comment));
    }
  }

  void read_comment(std::string_view text, std::string_view whole) {
    if (text.starts_with("Rank ")) {
      read_rank(text);
    } else if (text.starts_with("nccl-tests v")) {
      begin_if(begun_);
      const std::string_view code = after(text, "nccl-library=");
      version_ = nccl_version(finite_number(code.substr(0, code.find(' '))).value_or(0));
    } else if (text.starts_with("Collective test starting")) {
      begin_if(begun_);
      program_ = nccl_program(text);
      begin();
    } else if (text.starts_with("nThread ")) {
      begin_if(has_settings_);
      begin();
      has_settings_ = true;
    } else if (text.starts_with("Using devices")) {
      begin_if(!run_.ranks.empty());
      begin();
    } else if (text.starts_with("size ") && text.find("algbw") != std::string_view::npos) {
      read_header(words_between_blanks(whole.substr(1)));
    } else if (text.starts_with("Out of bounds values")) {
      read_out_of_bounds(text);
    } else if (text.starts_with("Avg bus bandwid") && begun_) {
      run_.average_GB_s = footer_value(text);
      run_.complete = true;
    }
  }

  void read_rank(std::string_view text) {
    NcclRank rank;
    if (!read_nccl_rank(text, rank)) {
      return error(line_, "truncated", "the line of a rank is cut off");
    }
    if (rank.node.size() > kLongestName || rank.pci.size() > kLongestName) {
      return error(line_, "no_node", too_long("node", rank.node));
    }
    begin_if(run_.complete || !run_.rows.empty());
    begin();
    run_.ranks.push_back(std::move(rank));
  }

  void read_header(const std::vector<std::string_view>& words) {
    begin_if(run_.complete || !run_.rows.empty());
    begin();
    if (!rows_.read_header(words)) {
      error(line_, "missing_column",
            "the table's header lacks one of size, count, type, twice time, algbw and busbw; rows "
            "are read as nccl-tests prints them today");
    }
    run_.counts_wrong = rows_.counts_wrong();
  }

  void read_out_of_bounds(std::string_view text) {
    if (!begun_) {
      return;
    }
    run_.out_of_bounds = footer_value(text);
    if (run_.out_of_bounds.value_or(0) != 0) {
      error(line_, "wrong_result",
            fmt::format("{} of the checks of this run failed", *run_.out_of_bounds));
    }
  }

  void read_text(std::string_view line) {
    if (std::ranges::any_of(kFailures, [line](std::string_view failure) {
          return line.find(failure) != std::string_view::npos;
        })) {
      return read_failure(line);
    }
    if (!begun_ && row_begins(line)) {
      begin();
    }
    if (run_.complete && row_begins(line)) {
      begin_if(true);
      begin();
    }
    const std::size_t before = run_.rows.size();
    const bool clean = rows_.take(line, line_, run_);
    for (std::size_t i = before; i < run_.rows.size(); ++i) {
      check(run_.rows[i]);
    }
    for (const NcclRows::Fault& fault : rows_.faults()) {
      error(fault.line, fault.kind, fault.message);
    }
    if (!clean) {
      read_foreign(line);
    }
  }

  // Before there is a header, or after a footer.
  static bool row_begins(std::string_view line) {
    NcclRows rows;
    NcclRun none;
    rows.take(line, 1, none);
    return rows.open_line() > 0 || !none.rows.empty();
  }

  void check(const NcclRow& row) {
    for (const NcclFigure* figure : {&row.out_of_place, &row.in_place}) {
      if (run_.counts_wrong && figure->wrong.value_or(0) != 0) {
        return error(
            row.line, "wrong_result",
            fmt::format("{} elements arrived wrong at {} bytes", *figure->wrong, row.size_bytes));
      }
    }
  }

  // "cn-1: Test NCCL failure common.cu:401 'remote process exited / '"
  void read_failure(std::string_view line) {
    const std::size_t at = std::min(line.find(kFailures[0]), line.find(kFailures[1]));
    const auto words = words_between_blanks(line.substr(0, at));
    begin();
    std::string_view node = words.empty() ? std::string_view() : words.back();
    node.remove_suffix(node.ends_with(':') ? 1 : 0);
    node.remove_prefix(value_before(node, run_.ranks).size());
    std::string_view text = line.substr(at);
    if (const auto quote = text.find('\''); quote != std::string_view::npos) {
      text = text.substr(quote + 1, text.rfind('\'') > quote ? text.rfind('\'') - quote - 1
                                                             : std::string_view::npos);
    }
    while (text.ends_with(' ') || text.ends_with('/')) {
      text.remove_suffix(1);
    }
    NcclFailure failure{line_, std::string(node.substr(0, kLongestName)),
                        std::string(text.substr(0, kMostOfAMessage))};
    const bool told = std::ranges::any_of(run_.failures, [&failure](const NcclFailure& other) {
      return other.node == failure.node && other.text == failure.text;
    });
    if (told) {
      return;
    }
    error(line_, "failed", fmt::format("{}: the test failed: {}", failure.node, failure.text));
    run_.failures.push_back(std::move(failure));
  }

  void read_foreign(std::string_view line) {
    if (const auto version = after(line, "NCCL version "); !version.empty() && version_.empty()) {
      version_ =
          version.substr(0, std::min(version.find_first_not_of("0123456789."), std::size_t{20}));
      run_.version = version_;
    }
    if (const auto program = nccl_program(line); !program.empty()) {
      (begun_ ? next_program_ : program_) = program;
    }
    if (const auto end = job_end(line); end && !run_.complete && run_.end.empty()) {
      run_.end = end->meaning;
      run_.out_of_time = end->out_of_time;
    }
  }

  void begin() {
    if (!begun_) {
      begun_ = true;
      run_.line = line_;
    }
    run_.file = file_;
    run_.collective = program_;
    run_.version = version_;
  }

  void begin_if(bool over) {
    if (over) {
      finish();
    }
  }

  void finish() {
    const int open_line = rows_.open_line();
    rows_.drop_open();
    if (begun_ && !run_.complete && run_.failures.empty()) {
      const std::string why = run_.end.empty() ? "" : ": " + run_.end;
      error(open_line > 0 ? open_line : run_.line, "truncated",
            open_line > 0
                ? "the row is cut off" + why
                : fmt::format("the run has {} and no end{}",
                              run_.rows.empty() ? std::string("no row")
                                                : fmt::format("{} rows", run_.rows.size()),
                              why));
    }
    if (begun_) {
      runs_.push_back(std::move(run_));
    }
    run_ = {};
    rows_ = {};
    begun_ = false;
    has_settings_ = false;
    program_ = std::exchange(next_program_, "");
    version_.clear();
  }

  void error(int line, std::string kind, std::string message) {
    problems_.errors.add({std::move(kind), source_.name, line, std::move(message)});
  }

  const SourceText& source_;
  int file_;
  NcclProblems& problems_;
  int line_ = 0;
  bool begun_ = false;  // run_ is one
  bool has_settings_ = false;
  std::string program_;       // of run_, or of the one that is to begin
  std::string next_program_;  // named since run_ began
  std::string version_;
  NcclRun run_;
  NcclRows rows_;
  std::vector<NcclRun> runs_;
};

}  // namespace

std::vector<NcclRun> read_nccl_log(const SourceText& source, int file, NcclProblems& problems) {
  return LogReader(source, file, problems).runs();
}

bool looks_like_nccl_log(std::string_view text) {
  for (const std::string_view mark :
       {"# nThread ", "# nccl-tests version ",
        "# Collective test starting: ", "out-of-place                       in-place",
        "Test NCCL failure ", "Test CUDA failure "}) {
    if (text.find(mark) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace fleetbench::record
