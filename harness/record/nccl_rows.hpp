// The rows of a table of nccl-tests, also where other programs wrote into the middle of them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/record/nccl_run.hpp"

namespace fleetbench::record {

enum class NcclColumn { size, count, type, redop, root, time, algbw, busbw, wrong, other, text };

class NcclRows {
 public:
  // Which columns there are, by the words of the table's header; those of nccl-tests since 2.13
  // where there was none. False where it lacks one that is needed.
  bool read_header(const std::vector<std::string_view>& words);
  // Of logs before 2.13 the last column of a figure is a deviation.
  bool counts_wrong() const { return counts_wrong_; }

  // Takes what of a line that is no comment belongs to the rows of `run`, and adds to it those that
  // are whole. False where something else stands on the line, too.
  bool take(std::string_view line, int number, NcclRun& run);

  // The line on which a row begins that is not whole yet; 0: there is none.
  int open_line() const { return open_.empty() ? 0 : line_; }
  void drop_open() { open_.clear(); }

  struct Fault {
    int line = 0;
    std::string kind;
    std::string message;
  };
  // Of rows that were dropped since the last call.
  std::vector<Fault> faults() { return std::exchange(faults_, {}); }

 private:
  using Words = std::vector<std::string_view>;

  std::size_t fill(const Words& words, std::size_t begin, std::size_t end, const NcclRun& run);
  bool continue_open(const Words& words, std::size_t end, NcclRun& run);
  void close(const Words& words, std::size_t next, NcclRun& run);
  void drop(std::string kind, std::string message);

  std::vector<NcclColumn> columns_ = default_columns();
  bool counts_wrong_ = true;
  int line_ = 0;                   // on which the open row begins
  std::vector<std::string> open_;  // what is known of it, column by column
  bool glued_ = false;             // its last value had something else right behind it
  bool pieced_ = false;
  std::vector<Fault> faults_;

  static std::vector<NcclColumn> default_columns();
};

}  // namespace fleetbench::record
