#include "harness/record/superbench_lines.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "results-schema/check.hpp"

namespace fleetbench::record {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr double kUnusable = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kLongestShown = 40;

class LineReader {
 public:
  LineReader(int file, SampleRows& rows, NameTable& keys) : file_(file), rows_(rows), keys_(keys) {}

  // None where nothing on the line can be used, which is reported.
  std::optional<SuperbenchLine> read(std::string_view text, int number) {
    line_ = number;
    node_.clear();
    entries_.clear();
    faults_.clear();
    // The parser reads beyond the end.
    padded_.assign(text);
    padded_.append(simdjson::SIMDJSON_PADDING, ' ');
    const auto wrong =
        read_object(simdjson::padded_string_view(padded_.data(), text.size(), padded_.size()));
    if (wrong == simdjson::UTF8_ERROR) {
      rows_.error("encoding", file_, line_, "the line is not UTF-8");
      return std::nullopt;
    }
    if (wrong != simdjson::SUCCESS) {
      rows_.error("bad_line", file_, line_,
                  fmt::format("this is not a whole JSON object: it ends in \"{}\"",
                              text.substr(text.size() - std::min(text.size(), kLongestShown))));
      return std::nullopt;
    }
    if (node_.empty()) {
      rows_.error("no_node", file_, line_, "there is no \"node\" with a name on this line");
      return std::nullopt;
    }
    if (node_.size() > kLongestName) {
      rows_.error("no_node", file_, line_, too_long("node", node_));
      return std::nullopt;
    }
    for (const Fault& fault : faults_) {
      report(fault);
    }
    return SuperbenchLine{file_, line_, rows_.nodes.number(node_), entries_};
  }

 private:
  struct Fault {
    int key;
    std::string text;
  };

  simdjson::error_code read_object(simdjson::padded_string_view text) {
    ondemand::document document;
    ondemand::object object;
    if (const auto wrong = parser_.iterate(text).get(document)) {
      return wrong;
    }
    if (const auto wrong = document.get_object().get(object)) {
      return wrong;
    }
    for (auto field : object) {
      std::string_view key;
      ondemand::value value;
      if (const auto wrong = field.unescaped_key().get(key)) {
        return wrong;
      }
      if (key.size() > kLongestName) {
        rows_.error("bad_line", file_, line_, too_long("a key", key));
        continue;
      }
      // Before the value is looked at: the key stands in a buffer of the parser.
      const bool is_node = key == "node";
      const int number = is_node ? kNone : keys_.number(key);
      if (const auto wrong = field.value().get(value)) {
        return wrong;
      }
      if (is_node) {
        read_node(value);
      } else {
        read_value(number, value);
      }
    }
    const bool at_end = document.current_location().error() == simdjson::OUT_OF_BOUNDS;
    return at_end ? simdjson::SUCCESS : simdjson::TRAILING_CONTENT;
  }

  void read_node(ondemand::value value) {
    std::string_view name;
    if (value.get_string().get(name) == simdjson::SUCCESS) {
      node_ = trimmed(name);
    }
  }

  // By its text, since Python writes NaN and Infinity, which no JSON parser takes.
  void read_value(int key, ondemand::value value) {
    const std::string_view token = trimmed(value.raw_json_token());
    const bool composed = token.starts_with('{') || token.starts_with('[');
    const auto number = composed ? std::nullopt : finite_number(token);
    if (!number) {
      faults_.push_back({key, composed                       ? "more than one value"
                              : token.size() > kLongestShown ? "a long text"
                                                             : std::string(token)});
    }
    entries_.push_back({key, number.value_or(kUnusable)});
  }

  void report(const Fault& fault) {
    const std::string& key = keys_.name(fault.key);
    if (key.find('/') == std::string::npos) {
      return;  // not of a benchmark; that is said once for all lines
    }
    if (fault.text == "null") {
      rows_.error("no_value", file_, line_, fmt::format("{} on {}: null", key, node_));
    } else {
      rows_.error("bad_number", file_, line_,
                  fmt::format("{} on {}: {} is not a finite number", key, node_, fault.text));
    }
  }

  int file_;
  SampleRows& rows_;
  NameTable& keys_;
  int line_ = 0;
  std::string node_;
  std::vector<SuperbenchEntry> entries_;
  std::vector<Fault> faults_;
  std::string padded_;
  ondemand::parser parser_;
};

}  // namespace

void read_superbench_lines(const SourceText& source, int file, SampleRows& rows, NameTable& keys,
                           std::vector<SuperbenchLine>& lines) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  std::string_view rest = source.text;
  rest.remove_prefix(rest.starts_with(kMark) ? kMark.size() : 0);
  LineReader reader(file, rows, keys);
  bool any = false;
  for (int number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view text = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (text.empty()) {
      continue;
    }
    any = true;
    if (auto line = reader.read(text, number)) {
      lines.push_back(std::move(*line));
    }
  }
  if (!any) {
    rows.error("empty", file, 0, "the file is empty");
  }
}

}  // namespace fleetbench::record
