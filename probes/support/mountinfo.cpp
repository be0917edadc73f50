#include "probes/support/mountinfo.hpp"

#include <algorithm>
#include <optional>

#include "probes/support/text_fields.hpp"

namespace fleetbench {

namespace {

bool is_octal(char character) { return character >= '0' && character <= '7'; }

// "36 35 98:0 /root /point rw,noatime master:1 - ext3 /dev/sda rw": the optional fields in the
// middle end at the lone "-".
std::optional<MountEntry> parse_line(std::string_view line) {
  const std::vector<std::string_view> fields = split(line, ' ');
  const auto start = fields.begin() + std::min<std::ptrdiff_t>(6, std::ssize(fields));
  const auto dash = std::find(start, fields.end(), "-");
  if (fields.end() - dash < 4) {
    return std::nullopt;
  }
  return MountEntry{.root = without_octal_escapes(fields[3]),
                    .mount_point = without_octal_escapes(fields[4]),
                    .options = std::string(fields[5]),
                    .fs_type = without_octal_escapes(dash[1]),
                    .source = without_octal_escapes(dash[2]),
                    .super_options = without_octal_escapes(dash[3]),
                    .id = static_cast<int>(parse_integer(fields[0]).value_or(-1)),
                    .parent = static_cast<int>(parse_integer(fields[1]).value_or(-1))};
}

}  // namespace

std::string without_octal_escapes(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) &&
                         is_octal(text[i + 2]) && is_octal(text[i + 3]);
    if (!escaped) {
      plain += text[i];
      continue;
    }
    const int code = (text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0');
    plain += static_cast<char>(code);
    i += 3;
  }
  return plain;
}

std::vector<MountEntry> parse_mountinfo(std::string_view text) {
  std::vector<MountEntry> mounts;
  for (const std::string_view line : split(text, '\n')) {
    if (auto mount = parse_line(line)) {
      mounts.push_back(std::move(*mount));
    }
  }
  return mounts;
}

}  // namespace fleetbench
