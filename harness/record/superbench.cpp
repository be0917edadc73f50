#include "harness/record/superbench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "harness/record/superbench_keys.hpp"
#include "harness/record/superbench_lines.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::record {
namespace {

constexpr int kTimedOut = 124;
constexpr int kUnsupported = 34;  // this hardware has no such thing

// A few lines that name many benchmarks make a gap of each on every other line.
constexpr std::size_t kMostGaps = std::size_t{1} << 22U;

// Step, run and rank of the return codes that are not 0.
using Failed = std::set<std::tuple<int, std::optional<int>, std::optional<int>>>;

// A return code without run or rank is of all of them.
bool has_failed(const KnownKey& key, const Failed& failed) {
  for (const auto& run : {key.parts.run, std::optional<int>()}) {
    for (const auto& rank : {key.parts.rank, std::optional<int>()}) {
      if (failed.contains({key.step, run, rank})) {
        return true;
      }
    }
  }
  return false;
}

class Superbench {
 public:
  explicit Superbench(std::vector<SourceText> files) {
    for (SourceText& file : files) {
      const SourceText source = std::exchange(file, {});  // large, and of no more use
      const int number = static_cast<int>(rows_.files.size());
      rows_.files.push_back(source.name);
      read_superbench_lines(source, number, rows_, names_, lines_);
    }
  }

  ImportedSamples samples() && {
    keys_ = understand_keys(names_, rows_);
    std::size_t entries = 0;
    for (const SuperbenchLine& line : lines_) {
      entries += line.entries.size();
    }
    rows_.rows.reserve(entries);
    const std::span lines(lines_);
    for (std::size_t begin = 0; begin < lines.size();) {
      std::size_t end = begin;
      std::map<int, int> lines_of;  // node → so far
      std::vector<Failed> failed;
      for (; end < lines.size() && lines[end].file == lines[begin].file; ++end) {
        failed.push_back(add_line(lines[end], lines_of[lines[end].node]++));
      }
      add_missing(lines.subspan(begin, end - begin), failed);
      begin = end;
    }
    lines_.clear();
    lines_.shrink_to_fit();
    return assemble(std::move(rows_));
  }

 private:
  const KnownKey& key_of(const SuperbenchEntry& entry) const {
    return keys_[static_cast<std::size_t>(entry.key)];
  }

  std::string place_of(const SuperbenchLine& line) const {
    return fmt::format("({}:{})", rows_.files[static_cast<std::size_t>(line.file)], line.line);
  }

  // A second line of a node holds later runs.
  static std::int64_t pass_of(const KnownKey& key, int lines_before) {
    return (static_cast<std::int64_t>(lines_before) << 32U) + key.parts.run.value_or(0);
  }

  static SampleRow row_of(const SuperbenchLine& line, const KnownKey& key, int lines_before) {
    SampleRow row;
    row.file = line.file;
    row.line = line.line;
    row.step = key.step;
    row.metric = key.metric;
    row.node = key.is_link() ? key.a : line.node;
    row.peer = key.b;
    row.device = key.is_link() ? kNone : key.device;
    row.pass = pass_of(key, lines_before);
    return row;
  }

  Failed add_line(const SuperbenchLine& line, int lines_before) {
    Failed failed;
    for (const SuperbenchEntry& entry : line.entries) {
      const KnownKey& key = key_of(entry);
      if (key.of_benchmark && key.metric == kNone && std::isfinite(entry.value) &&
          entry.value != 0) {
        failed.insert({key.step, key.parts.run, key.parts.rank});
        add_failure(row_of(line, key, lines_before), entry.value, place_of(line));
      }
    }
    for (const SuperbenchEntry& entry : line.entries) {
      const KnownKey& key = key_of(entry);
      if (key.metric != kNone && std::isfinite(entry.value) && !has_failed(key, failed)) {
        add_value(row_of(line, key, lines_before), entry, line);
      }
    }
    return failed;
  }

  void add_failure(SampleRow row, double code, const std::string& place) {
    row.status = code == kTimedOut      ? Status::timeout
                 : code == kUnsupported ? Status::skipped
                                        : Status::failed;
    const bool small = std::abs(code) < 1000;
    const auto name = superbench_code_name(small ? static_cast<int>(code) : 0);
    row.reason = rows_.reason(
        fmt::format("return code {}{}{} {}", code, name.empty() ? "" : " ", name, place));
    rows_.rows.push_back(row);
  }

  void add_value(SampleRow row, const SuperbenchEntry& entry, const SuperbenchLine& line) {
    row.value = entry.value;
    if (key_of(entry).facts.role == SuperbenchRole::check && entry.value == 0) {
      row.status = Status::wrong;
      row.reason = rows_.reason(fmt::format("{} is 0 {}", names_.name(entry.key), place_of(line)));
    }
    rows_.rows.push_back(row);
  }

  // What lines of one file lack although others have it.
  void add_missing(std::span<const SuperbenchLine> lines, const std::vector<Failed>& failed) {
    std::vector<std::set<int>> steps;  // by line
    std::vector<int> lines_of_step(static_cast<std::size_t>(rows_.steps.size()), 0);
    std::vector<int> lines_of_key(keys_.size(), 0);
    for (const SuperbenchLine& line : lines) {
      std::set<int>& there = steps.emplace_back();
      for (const SuperbenchEntry& entry : line.entries) {
        if (must_be_there(key_of(entry))) {
          ++lines_of_key[static_cast<std::size_t>(entry.key)];
          there.insert(key_of(entry).step);
        }
      }
      for (const int step : there) {
        ++lines_of_step[static_cast<std::size_t>(step)];
      }
    }
    const std::vector<int> usual = usual_keys(lines_of_key, lines_of_step);
    require_few_gaps(lines, lines_of_key, lines_of_step, usual);
    std::map<int, std::vector<int>> usual_of_step;  // of each that some line has
    for (int step = 0; step < rows_.steps.size(); ++step) {
      if (lines_of_step[static_cast<std::size_t>(step)] > 0) {
        usual_of_step[step];
      }
    }
    for (const int k : usual) {
      usual_of_step[keys_[static_cast<std::size_t>(k)].step].push_back(k);
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
      for (const auto& [step, keys] : usual_of_step) {
        if (!steps[i].contains(step)) {
          add_missing_benchmark(lines[i], step);
        }
      }
      add_missing_values(lines[i], steps[i], usual_of_step, failed[i]);
    }
  }

  // Links stand on the line of one node only; telemetry is no result.
  static bool must_be_there(const KnownKey& key) {
    return key.of_benchmark && !key.is_link() && key.parts.benchmark != "monitor";
  }

  // Values that more than half of the nodes have which ran the benchmark.
  std::vector<int> usual_keys(const std::vector<int>& lines_of_key,
                              const std::vector<int>& lines_of_step) const {
    std::vector<int> usual;
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      const KnownKey& key = keys_[k];
      if (lines_of_key[k] > 0 && key.metric != kNone && key.facts.better &&
          2 * lines_of_key[k] > lines_of_step[static_cast<std::size_t>(key.step)]) {
        usual.push_back(static_cast<int>(k));
      }
    }
    return usual;
  }

  void require_few_gaps(std::span<const SuperbenchLine> lines, const std::vector<int>& lines_of_key,
                        const std::vector<int>& lines_of_step,
                        const std::vector<int>& usual) const {
    std::size_t gaps = 0;
    for (const int lines_of_one : lines_of_step) {
      gaps += lines_of_one > 0 ? lines.size() - static_cast<std::size_t>(lines_of_one) : 0;
    }
    for (const int k : usual) {
      const int step = keys_[static_cast<std::size_t>(k)].step;
      gaps += static_cast<std::size_t>(std::max(0, lines_of_step[static_cast<std::size_t>(step)] -
                                                       lines_of_key[static_cast<std::size_t>(k)]));
    }
    if (gaps > kMostGaps) {
      throw InputError(fmt::format(
          "{}: lines lack {} values that other lines have, of which {} can be told; give files of "
          "fewer benchmarks, one after the other",
          rows_.files[static_cast<std::size_t>(lines.front().file)], gaps, kMostGaps));
    }
  }

  void add_missing_benchmark(const SuperbenchLine& line, int step) {
    KnownKey whole;
    whole.step = step;
    add_gap(line, whole, rows_.steps.name(step));
    rows_.omissions.push_back({step, line.node, fmt::format("no value {}", place_of(line))});
  }

  void add_missing_values(const SuperbenchLine& line, const std::set<int>& steps,
                          const std::map<int, std::vector<int>>& usual_of_step,
                          const Failed& failed) {
    std::vector<int> there;
    for (const SuperbenchEntry& entry : line.entries) {
      there.push_back(entry.key);
    }
    std::ranges::sort(there);
    for (const int step : steps) {
      for (const int k : usual_of_step.at(step)) {
        const KnownKey& key = keys_[static_cast<std::size_t>(k)];
        if (!std::ranges::binary_search(there, k) && !has_failed(key, failed)) {
          add_gap(line, key, names_.name(k));
        }
      }
    }
  }

  void add_gap(const SuperbenchLine& line, const KnownKey& key, const std::string& what) {
    SampleRow row = row_of(line, key, 0);
    row.status = Status::failed;
    row.reason = rows_.reason(fmt::format("no value of {} {}", what, place_of(line)));
    rows_.rows.push_back(row);
  }

  SampleRows rows_;
  NameTable names_;  // of keys
  std::vector<SuperbenchLine> lines_;
  std::vector<KnownKey> keys_;
};

}  // namespace

ImportedSamples read_superbench(std::vector<SourceText> files) {
  return Superbench(std::move(files)).samples();
}

bool looks_like_superbench(std::string_view text) {
  const std::size_t begin = text.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  if (begin == std::string_view::npos || text[begin] != '{') {
    return false;
  }
  const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  return line.find("\"node\"") != std::string_view::npos;
}

}  // namespace fleetbench::record
