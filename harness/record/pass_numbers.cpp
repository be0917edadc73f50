#include "harness/record/pass_numbers.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <unordered_map>

namespace fleetbench::record {
namespace {

// All rows of one metric and subject. `taken`: by pass of the file that is being read.
struct Series {
  int file = kNone;  // that had a row of it last
  std::set<int> taken;
  int next = 0;  // everything before is taken

  int take_next() {
    while (taken.contains(next)) {
      ++next;
    }
    return next++;
  }
};

class PassNumbers {
 public:
  explicit PassNumbers(const SampleRows& rows) : rows_(rows), passes_(rows.rows.size(), 0) {}

  std::vector<int> result() && {
    std::size_t begin = 0;
    while (begin < rows_.rows.size()) {
      const int file = rows_.rows[begin].file;
      std::size_t end = begin;
      while (end < rows_.rows.size() && rows_.rows[end].file == file) {
        ++end;
      }
      number_file(begin, end);
      begin = end;
    }
    return std::move(passes_);
  }

 private:
  void number_file(std::size_t begin, std::size_t end) {
    const std::span rows(rows_.rows.data() + begin, end - begin);
    std::vector<std::int64_t> given;
    bool some_without = false;
    for (const SampleRow& row : rows) {
      if (row.pass == kNoPass) {
        some_without = true;
      } else if (given.empty() || given.back() != row.pass) {
        given.push_back(row.pass);
      }
    }
    std::ranges::sort(given);
    given.erase(std::unique(given.begin(), given.end()), given.end());
    for (std::size_t i = begin; i < end; ++i) {
      const auto pass = rows_.rows[i].pass;
      if (pass != kNoPass) {
        passes_[i] = static_cast<int>(std::ranges::lower_bound(given, pass) - given.begin());
      }
    }
    if (some_without || rows_.files.size() > 1) {
      follow_series(begin, end);
    }
  }

  // For rows without a pass, and to see whether the file adds passes to earlier ones.
  void follow_series(std::size_t begin, std::size_t end) {
    bool adds_passes = false;
    for (std::size_t i = begin; i < end; ++i) {
      const SampleRow& row = rows_.rows[i];
      Series& series = series_of(row);
      if (series.file != row.file) {
        adds_passes = adds_passes || series.file != kNone;
        series = {row.file, {}, 0};
      }
      if (row.pass != kNoPass) {
        series.taken.insert(passes_[i]);
      }
    }
    int last = -1;
    for (std::size_t i = begin; i < end; ++i) {
      if (rows_.rows[i].pass == kNoPass) {
        passes_[i] = series_of(rows_.rows[i]).take_next();
      }
      last = std::max(last, passes_[i]);
    }
    const int offset = adds_passes ? count_ : 0;
    for (std::size_t i = begin; i < end; ++i) {
      passes_[i] += offset;
    }
    count_ = std::max(count_, offset + last + 1);
  }

  Series& series_of(const SampleRow& row) {
    return series_[{row.metric, row.step, row.node, row.device, row.peer}];
  }

  const SampleRows& rows_;
  std::vector<int> passes_;
  int count_ = 0;  // of the files so far
  std::unordered_map<RowKey, Series, RowKeyHash> series_;
};

}  // namespace

std::vector<int> number_passes(const SampleRows& rows) { return PassNumbers(rows).result(); }

}  // namespace fleetbench::record
