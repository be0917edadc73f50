#include "harness/record/journal_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <deque>
#include <fstream>
#include <future>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>

#include "harness/record/fast_json.hpp"
#include "harness/record/journal.hpp"
#include "harness/record/run_directory.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::record {
namespace {

// Of a file of nothing but faults.
constexpr std::size_t kMostDamage = 1000;

// More gain little: adding the records to what is known is work of one thread.
constexpr std::size_t kThreads = 2;

// Reads up to as many bytes as there is room for; 0 at the end.
using Source = std::function<std::size_t(char* to, std::size_t room)>;

// Whole lines, with the padding that FastJson wants behind them.
struct Block {
  std::string bytes;
  bool first = false;  // begins with the line that names the schema

  std::string_view lines() const {
    return std::string_view(bytes).substr(0, bytes.size() - kJsonPadding);
  }
};

class Blocks {
 public:
  Blocks(const Source& source, std::size_t size) : source_(source), size_(size) {}

  // Absent at the end; what is behind the last line's end is torn and dropped.
  std::optional<Block> next() {
    std::string bytes = std::exchange(rest_, {});
    for (;;) {
      const std::size_t known = bytes.size();
      bytes.resize(known + size_);
      bytes.resize(known + source_(bytes.data() + known, size_));
      if (bytes.size() == known) {
        // Nobody was killed while writing that.
        return known > kLongestLine_bytes
                   ? std::optional(whole_lines(std::move(bytes) + "\n", known + 1))
                   : std::nullopt;
      }
      const std::size_t end = std::string_view(bytes).substr(known).rfind('\n');
      if (end != std::string_view::npos) {
        return whole_lines(std::move(bytes), known + end + 1);
      }
      // Of a line that is too long as much is kept as shows that it is.
      bytes.resize(std::min(bytes.size(), kLongestLine_bytes + 1));
    }
  }

 private:
  Block whole_lines(std::string bytes, std::size_t size) {
    rest_ = bytes.substr(size);
    bytes.resize(size);
    bytes.append(kJsonPadding, '\0');
    return {std::move(bytes), std::exchange(first_, false)};
  }

  const Source& source_;
  std::size_t size_;
  std::string rest_;  // the beginning of a line whose end is in the next block
  bool first_ = true;
};

struct Line {
  int number = 0;                             // within its block
  std::variant<Record, std::string> content;  // or why there is none
};

struct Parsed {
  std::vector<Line> lines;  // those that give a record, and those that are damaged
  int count = 0;            // of all lines
};

void check_schema(const Json& first_line) {
  const auto schema = first_line.value("schema", "");
  if (schema.substr(0, schema.find('.')) != "fleetbench-journal/1") {
    throw std::invalid_argument(
        fmt::format("schema is \"{}\"; this program reads fleetbench-journal/1", schema));
  }
}

Record record_of(std::string_view line, FastJson& fast) {
  if (line.size() > kLongestLine_bytes) {
    throw std::invalid_argument(
        fmt::format("a line of more than {} MiB is no record", kLongestLine_bytes >> 20U));
  }
  what_it_seals(line);
  if (auto sample = fast.sample(line)) {
    return std::move(*sample);
  }
  return record_from_json(opened(line));
}

Parsed parse(const Block& block) {
  FastJson fast;
  Parsed parsed;
  std::string_view rest = block.lines();
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    ++parsed.count;
    try {
      if (block.first && parsed.count == 1) {
        check_schema(opened(line));
      } else {
        parsed.lines.push_back({parsed.count, record_of(line, fast)});
      }
    } catch (const std::exception& error) {
      parsed.lines.push_back({parsed.count, error.what()});
    }
  }
  return parsed;
}

class JournalReader {
 public:
  JournalReader(const Source& source, std::string name, const TakeRecord& take, std::size_t block)
      : blocks_(source, block), name_(std::move(name)), take_(take) {}

  std::vector<std::string> read() {
    for (parse_ahead(); !parsing_.empty();) {
      Parsed parsed = parsing_.front().get();
      parsing_.pop_front();
      parse_ahead();
      deliver(std::move(parsed));
    }
    if (more_damage_ > 0) {
      damage_.push_back(fmt::format("{}: and {} more damaged lines", name_, more_damage_));
    }
    return std::move(damage_);
  }

 private:
  void parse_ahead() {
    while (parsing_.size() < kThreads) {
      auto block = blocks_.next();
      if (!block) {
        return;
      }
      parsing_.push_back(
          std::async(std::launch::async, [block = std::move(*block)] { return parse(block); }));
    }
  }

  void deliver(Parsed parsed) {
    for (Line& line : parsed.lines) {
      try {
        if (auto* record = std::get_if<Record>(&line.content)) {
          take_(std::move(*record));
          continue;
        }
        note_damage(line.number, std::get<std::string>(line.content));
      } catch (const std::exception& error) {
        note_damage(line.number, error.what());
      }
    }
    lines_before_ += parsed.count;
  }

  void note_damage(int line, const std::string& what) {
    if (damage_.size() < kMostDamage) {
      damage_.push_back(fmt::format("{}:{}: {}", name_, lines_before_ + line, what));
    } else {
      ++more_damage_;
    }
  }

  Blocks blocks_;
  std::string name_;
  const TakeRecord& take_;
  std::deque<std::future<Parsed>> parsing_;  // in the file's order
  std::int64_t lines_before_ = 0;
  std::vector<std::string> damage_;
  std::int64_t more_damage_ = 0;  // lines that are not told
};

}  // namespace

std::vector<std::string> read_journal(const std::filesystem::path& path, const TakeRecord& take) {
  require_regular(path);
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw InputError(fmt::format("{}: cannot read: {}", path.string(), std::strerror(errno)));
  }
  const Source source = [&file](char* to, std::size_t room) {
    file.read(to, static_cast<std::streamsize>(room));
    return static_cast<std::size_t>(file.gcount());
  };
  return JournalReader(source, path.string(), take, kJournalBlock).read();
}

std::vector<std::string> read_journal(const std::string& text, const std::string& source,
                                      const TakeRecord& take, std::size_t block) {
  std::size_t done = 0;
  const Source from_text = [&](char* to, std::size_t room) {
    const std::size_t count = text.copy(to, room, done);
    done += count;
    return count;
  };
  return JournalReader(from_text, source, take, block).read();
}

}  // namespace fleetbench::record
