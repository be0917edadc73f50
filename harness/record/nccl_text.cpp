#include "harness/record/nccl_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "harness/record/sample_rows.hpp"

namespace fleetbench::record {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kDigits = "0123456789";

constexpr std::array<std::string_view, 8> kComments{
    "Rank ",           "size ",         "nThread ",     "Out of bounds values",
    "Avg bus bandwid", "Using devices", "nccl-tests v", "Collective test "};

struct EndMark {
  std::string_view mark;
  JobEnd end;
};
constexpr std::array kEndMarks = std::to_array<EndMark>({
    {"DUE TO TIME LIMIT", {"the job met its time limit", true}},
    {"CANCELLED AT", {"the job was cancelled", false}},
    {"exited on signal", {"a process was killed by a signal", false}},
    {"oom-kill", {"a process was killed for lack of memory", false}},
    {"non-zero exit code", {"a process ended with an error", false}},
    {"Exited with exit code", {"a process ended with an error", false}},
});

std::size_t after_digits(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(kDigits, at), text.size());
}

bool read_number(std::string_view text, int& number) {
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  return wrong == std::errc() && end == text.data() + text.size() && number >= 0;
}

}  // namespace

std::vector<std::string_view> words_between_blanks(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t begin = line.find_first_not_of(kBlanks); begin != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::string_view without_tag(std::string_view line) {
  if (line.starts_with('[')) {
    const std::size_t comma = after_digits(line, 1);
    const std::size_t close = comma < line.size() ? after_digits(line, comma + 1) : line.size();
    const std::size_t end = line.find('>', close);
    if (line.substr(comma, 1) == "," && line.substr(close, 5) == "]<std" &&
        end != std::string_view::npos && end < close + 12) {
      return line.substr(end + (line.substr(end + 1, 1) == ":" ? 2 : 1));
    }
  }
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t colon = after_digits(line, begin);
  return colon > begin && line.substr(colon, 2) == ": " ? line.substr(colon + 2) : line;
}

std::size_t nccl_comment_begin(std::string_view line) {
  for (auto at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    const std::string_view text = trimmed(line.substr(at + 1));
    if (std::ranges::any_of(kComments,
                            [text](std::string_view known) { return text.starts_with(known); })) {
      return at;
    }
  }
  return line.size();
}

std::string_view value_before(std::string_view word, const std::vector<NcclRank>& ranks) {
  const std::string_view head = word.substr(0, word.find(':'));
  for (const NcclRank& rank : ranks) {
    if (head.ends_with(rank.node)) {
      return head.substr(0, head.size() - rank.node.size());
    }
  }
  if (word.starts_with("N/A")) {
    return word.substr(0, 3);
  }
  const std::size_t end = word.find_first_not_of("-.0123456789");
  if (end == std::string_view::npos) {
    return {};
  }
  const std::string_view rest = word.substr(end);
  const bool exponent = rest.size() > 1 && rest[0] == 'e' && (rest[1] == '+' || rest[1] == '-');
  const bool other = rest[0] == '[' || std::isalpha(static_cast<unsigned char>(rest[0])) != 0;
  return other && !exponent ? word.substr(0, end) : std::string_view();
}

bool begins_library_line(std::string_view word) {
  return word.starts_with('[') || std::ranges::count(word, ':') >= 2;
}

std::optional<JobEnd> job_end(std::string_view line) {
  for (const EndMark& mark : kEndMarks) {
    if (line.find(mark.mark) != std::string_view::npos) {
      return mark.end;
    }
  }
  return std::nullopt;
}

std::string_view short_pci(std::string_view address) {
  address.remove_prefix(address.starts_with("0x") ? 2 : 0);
  constexpr std::string_view kDomain = "0000:";
  constexpr std::string_view kDevice = ":00";
  if (address.size() > kDomain.size() + kDevice.size() && address.starts_with(kDomain) &&
      address.ends_with(kDevice)) {
    address.remove_prefix(kDomain.size());
    address.remove_suffix(kDevice.size());
  }
  return address;
}

bool read_nccl_rank(std::string_view text, NcclRank& rank) {
  const auto words = words_between_blanks(text);
  bool has_rank = false;
  bool has_device = false;
  for (std::size_t i = 0; i < words.size() && rank.pci.empty(); ++i) {
    const std::string_view next = i + 1 < words.size() ? words[i + 1] : std::string_view();
    if (words[i] == "Rank") {
      has_rank = read_number(next, rank.rank);
    } else if (words[i] == "Group") {
      read_number(next, rank.group);
    } else if (words[i] == "on") {
      rank.node = next;
    } else if (words[i] == "device") {
      has_device = read_number(next, rank.device);
    } else if (has_device && words[i].starts_with('[') && words[i].ends_with(']')) {
      rank.pci = short_pci(words[i].substr(1, words[i].size() - 2));
    }
  }
  return has_rank && has_device && !rank.node.empty() && !rank.pci.empty();
}

}  // namespace fleetbench::record
