#include "harness/report/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/report/escape.hpp"

namespace fleetbench::report {
namespace {

struct Prefix {
  int exponent;
  std::string_view text;
};

constexpr std::array<Prefix, 10> kPrefixes{{{-12, "p"},
                                            {-9, "n"},
                                            {-6, "µ"},
                                            {-3, "m"},
                                            {0, ""},
                                            {3, "k"},
                                            {6, "M"},
                                            {9, "G"},
                                            {12, "T"},
                                            {15, "P"}}};
constexpr std::array<std::string_view, 10> kPrefixable{"FLOP/s", "FLOPS", "B/s", "B", "s",
                                                       "bit/s",  "bps",   "Hz",  "W", "J"};

// Samples of other tools come in units with a prefix, which would get a second one: 2435 ms is
// 2.44 s, not 2.44 k ms. Without one nothing changes.
void take_prefix_off(double& value, std::string_view& unit) {
  for (const Prefix& prefix : kPrefixes) {
    const bool micro = prefix.exponent == -6 && unit.starts_with('u');
    const std::string_view text = micro ? "u" : prefix.text;
    if (text.empty() || !unit.starts_with(text)) {
      continue;
    }
    const std::string_view rest = unit.substr(text.size());
    if (std::find(kPrefixable.begin(), kPrefixable.end(), rest) != kPrefixable.end()) {
      value *= std::pow(10.0, prefix.exponent);
      unit = rest;
      return;
    }
  }
}

std::string three_digits(double value) {
  const double size = std::abs(value);
  return fmt::format("{:.{}f}", value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

// The prefix for which three digits before and after the point suffice. Times are not counted in
// kiloseconds.
const Prefix& prefix_for(double value, std::string_view unit) {
  const double size = std::abs(value);
  const Prefix* best = &kPrefixes[4];
  if (size == 0 || !std::isfinite(size) || unit == "1") {  // a share is no milli-thing
    return *best;
  }
  best = kPrefixes.begin();
  for (const Prefix& prefix : kPrefixes) {
    if (size >= 0.9995 * std::pow(10.0, prefix.exponent)) {
      best = &prefix;
    }
  }
  return unit == "s" && best->exponent > 0 ? kPrefixes[4] : *best;
}

}  // namespace

std::string in_unit(double value, std::string_view unit) {
  take_prefix_off(value, unit);
  const Prefix& prefix = prefix_for(value, unit);
  const std::string number = three_digits(value / std::pow(10.0, prefix.exponent));
  const bool joined = std::find(kPrefixable.begin(), kPrefixable.end(), unit) != kPrefixable.end();
  if (joined) {
    return fmt::format("{} {}{}", number, prefix.text, unit);
  }
  if (unit == "1") {
    return fmt::format("{:.3g}", value);
  }
  std::string text = number;
  for (const std::string& part : {std::string(prefix.text), escaped(unit)}) {
    text += part.empty() ? "" : " " + part;
  }
  return text;
}

std::string in_per_cent(double pct) { return fmt::format("{:.{}f} %", pct, pct < 9.95 ? 1 : 0); }

}  // namespace fleetbench::report
