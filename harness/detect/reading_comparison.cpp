#include "harness/detect/reading_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/detect/robust.hpp"
#include "harness/detect/student.hpp"

namespace fleetbench::detect {
namespace {

constexpr double kMajority = 0.6;
constexpr std::size_t kFewestOthers = 2;
// What an assumed spread is worth, and what robust scale makes of n values: as in prior.cpp and
// robust.hpp.
constexpr double kAssumedDegrees = 4;
constexpr double kEfficiency = 0.37;
// Of counts on the scale of square roots, whatever their size.
constexpr double kOfCounts = 0.5;

bool counts(const ReadingType& type) {
  return type.kind == ReadingKind::counter || type.kind == ReadingKind::total;
}

// Mostly none, and then any number.
bool may_be_none(const ReadingType& type) { return counts(type) || type.kind == ReadingKind::rate; }

bool is_worse(const ReadingType& type, double own, double others) {
  return type.worse == Worse::either   ? own != others
         : type.worse == Worse::higher ? own > others
                                       : own < others;
}

std::optional<Odd> odd_state(double own, const std::vector<double>& others) {
  std::map<double, std::size_t> by_value;
  for (const double value : others) {
    ++by_value[value];
  }
  const auto most =
      std::ranges::max_element(by_value, {}, [](const auto& entry) { return entry.second; });
  const bool tells =
      others.size() >= kFewestOthers && most->first != own &&
      static_cast<double>(most->second) >= kMajority * static_cast<double>(others.size());
  return tells ? std::optional(Odd{most->first, most->second < others.size()}) : std::nullopt;
}

double scaled(const ReadingType& type, double value) {
  if (counts(type)) {
    return std::sqrt(std::max(0.0, value));
  }
  const bool by_factor = type.kind == ReadingKind::level || type.kind == ReadingKind::rate;
  return by_factor ? std::log(std::max(value, 1e-9)) : value;
}

std::optional<Odd> odd_size(const ReadingType& type, double own, const std::vector<double>& others,
                            const Bar& bar) {
  std::vector<double> x;
  for (const double value : others) {
    x.push_back(scaled(type, value));
  }
  const double assumed = counts(type) ? kOfCounts : type.assumed_spread;
  const double degrees = kEfficiency * static_cast<double>(x.size() - 1);
  const double sigma = robust_sigma(x);
  const double variance =
      (kAssumedDegrees * assumed * assumed + degrees * sigma * sigma) / (kAssumedDegrees + degrees);
  const double distance = std::abs(scaled(type, own) - median(std::move(x)));
  const double score =
      distance / std::sqrt(variance * (1 + 1 / static_cast<double>(others.size())));
  const bool small = !may_be_none(type) && distance < bar.least_effect;
  return !small && score > student_quantile(bar.chance, kAssumedDegrees + degrees)
             ? std::optional(Odd{median(others), true})
             : std::nullopt;
}

}  // namespace

std::optional<Odd> odd_among(const ReadingType& type, double own, const std::vector<double>& others,
                             const Bar& bar) {
  if (others.empty()) {
    return type.is_fault && own > 0 ? std::optional(Odd{}) : std::nullopt;
  }
  const auto none = static_cast<std::size_t>(std::ranges::count(others, 0.0));
  const bool most_have_none = 2 * none > others.size();
  if ((type.is_fault || may_be_none(type)) && most_have_none) {
    const bool tells = own > 0 && (type.is_fault || others.size() >= kFewestOthers);
    return tells ? std::optional(Odd{0, none < others.size()}) : std::nullopt;
  }
  if (type.kind == ReadingKind::state) {
    const auto odd = odd_state(own, others);
    return odd && is_worse(type, own, *odd->others) ? odd : std::nullopt;
  }
  if (others.size() < kFewestOthers || !is_worse(type, own, median(others))) {
    return std::nullopt;
  }
  return odd_size(type, own, others, bar);
}

std::string reading_text(const ReadingType& type, double value) {
  if (type.unit == "Hz") {
    return fmt::format("{:.3g} GHz", value * 1e-9);
  }
  if (type.unit == "B/s") {
    return fmt::format("{:.3g} GB/s", value * 1e-9);
  }
  if (type.unit == "share") {
    return value > 0 && value < 0.01 ? fmt::format("{:.1g} %", 100 * value)
                                     : fmt::format("{:.0f} %", 100 * value);
  }
  if (type.unit == "Gbit/s") {
    return value > 0 ? fmt::format("{:g} Gbit/s", value) : "down";
  }
  if (type.kind == ReadingKind::rate) {
    constexpr std::string_view kPerPacket = "per packet ";
    return type.unit.starts_with(kPerPacket)
               ? fmt::format("{:.3g} times per 1,000 packets {}", 1000 * value,
                             type.unit.substr(kPerPacket.size()))
               : fmt::format("{:.3g} {}", value, type.unit);
  }
  return type.unit.empty() ? fmt::format("{:.0f}", value)
                           : fmt::format("{:.0f} {}", value, type.unit);
}

std::string others_have(const ReadingType& type, const Odd& odd) {
  if (!odd.others) {
    return "";
  }
  if (*odd.others == 0) {
    return odd.most_only ? "most others none" : "others none";
  }
  return fmt::format("{} {}", may_be_none(type) ? "median" : "others",
                     reading_text(type, *odd.others));
}

}  // namespace fleetbench::detect
