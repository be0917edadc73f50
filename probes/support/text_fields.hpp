// Takes fields out of the texts that Linux writes in /sys and /proc. What does not have the
// expected form is `nullopt`; nothing throws. Views point into the argument.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fleetbench {

std::string_view trimmed(std::string_view text);
// n separators make n + 1 parts, some of them perhaps empty.
std::vector<std::string_view> split(std::string_view text, char separator);
// The runs of characters between white space.
std::vector<std::string_view> words(std::string_view text);

// The whole text is one decimal integer, white space around it apart.
std::optional<std::int64_t> parse_integer(std::string_view text);
// "16.0 GT/s PCIe" is 16.
std::optional<double> leading_number(std::string_view text);
// "always [madvise] never" is "madvise"; a text without brackets is `nullopt`.
std::optional<std::string> bracketed(std::string_view text);

// Value of the first line "key : value" that has this key.
std::optional<std::string> field_value(std::string_view text, std::string_view key);
// The same where the value is "1234 kB", in bytes.
std::optional<std::int64_t> field_bytes(std::string_view text, std::string_view key);

}  // namespace fleetbench
