#include "harness/detect/slow_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <string_view>

namespace fleetbench::detect {
namespace {

constexpr std::size_t kFewestSizes = 4;
// A part is slow where it is by this share of time, and by a quarter of what the other part is.
constexpr double kSlowPart = 0.1;
constexpr double kShareOfOther = 0.25;

struct Line {
  double latency = 0;
  double per_byte = 0;
};

// Least squares of (latency + per_byte * bytes) / time - 1.
Line fit(const std::vector<SizePoint>& sweep, double SizePoint::*time) {
  double aa = 0;
  double ab = 0;
  double bb = 0;
  double a = 0;
  double b = 0;
  for (const SizePoint& point : sweep) {
    const double one = 1 / (point.*time);
    const double bytes = point.bytes / (point.*time);
    aa += one * one;
    ab += one * bytes;
    bb += bytes * bytes;
    a += one;
    b += bytes;
  }
  const double determinant = aa * bb - ab * ab;
  if (determinant <= 1e-12 * aa * bb) {
    return {};
  }
  return {(a * bb - b * ab) / determinant, (b * aa - a * ab) / determinant};
}

// The bytes that the end of a metric's name says; 0 where it says none.
double bytes_of(std::string_view name) {
  const auto dot = name.rfind('.');
  if (dot == std::string_view::npos || name.find("busbw") == std::string_view::npos) {
    return 0;
  }
  const std::string_view text = name.substr(dot + 1);
  double number = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (wrong != std::errc() || unit.size() > 1 || number <= 0) {
    return 0;
  }
  constexpr std::string_view kUnits = "KMG";
  for (const char letter : kUnits) {
    number *= 1024;
    if (unit == std::string_view(&letter, 1)) {
      return number;
    }
  }
  return unit.empty() ? number / (1024.0 * 1024.0 * 1024.0) : 0;
}

std::string sweep_of(const std::string& name) { return name.substr(0, name.rfind('.')); }

std::string text_of(const std::string& sweep, const SizeShares& shares) {
  const double most = std::max(shares.latency, shares.bandwidth);
  const auto is_slow = [most](double share) {
    return share >= kSlowPart && share >= kShareOfOther * most;
  };
  const std::string latency =
      fmt::format("each call takes {:.0f} % longer, whatever its size", 100 * shares.latency);
  const std::string bandwidth =
      fmt::format("each byte takes {:.0f} % longer", 100 * shares.bandwidth);
  if (is_slow(shares.latency) && is_slow(shares.bandwidth)) {
    return fmt::format("{}: latency and bandwidth: {}, and {}", sweep, latency, bandwidth);
  }
  if (is_slow(shares.latency)) {
    return fmt::format("{}: latency, not bandwidth: {}", sweep, latency);
  }
  return is_slow(shares.bandwidth) ? fmt::format("{}: bandwidth, not latency: {}", sweep, bandwidth)
                                   : "";
}

// By the name of the sweep; none that has no metric in the finding.
std::map<std::string, std::vector<SizePoint>> sweeps_of(const std::vector<MetricSummary>& metrics,
                                                        const Finding& finding) {
  std::map<std::string, const MetricEvidence*> slow;
  std::map<std::string, std::vector<SizePoint>> sweeps;
  for (const MetricEvidence& metric : finding.metrics) {
    if (bytes_of(metric.metric) > 0 && metric.value > 0 && metric.median > 0) {
      slow[metric.metric] = &metric;
      sweeps[sweep_of(metric.metric)];
    }
  }
  for (const MetricSummary& metric : metrics) {
    const double bytes = bytes_of(metric.metric);
    const auto sweep = sweeps.find(sweep_of(metric.metric));
    if (bytes <= 0 || sweep == sweeps.end() || !metric.judged || !(metric.median > 0)) {
      continue;
    }
    const auto found = slow.find(metric.metric);
    const bool is_slow = found != slow.end();
    const double peers = is_slow ? found->second->median : metric.median;
    const double own = is_slow ? found->second->value : metric.median;
    sweep->second.push_back({bytes, bytes / own, bytes / peers});
  }
  return sweeps;
}

}  // namespace

std::optional<SizeShares> shares_by_size(const std::vector<SizePoint>& sweep) {
  if (sweep.size() < kFewestSizes) {
    return std::nullopt;
  }
  const auto [smallest, largest] = std::ranges::minmax(sweep, {}, &SizePoint::bytes);
  const Line peers = fit(sweep, &SizePoint::peers);
  const Line own = fit(sweep, &SizePoint::own);
  const bool shows_both = peers.latency > peers.per_byte * smallest.bytes &&
                          peers.per_byte * largest.bytes > peers.latency && peers.per_byte > 0;
  if (!shows_both) {
    return std::nullopt;
  }
  return SizeShares{own.latency / peers.latency - 1, own.per_byte / peers.per_byte - 1};
}

void tell_slow_sizes(const std::vector<MetricSummary>& metrics, std::vector<Finding>& findings) {
  for (Finding& finding : findings) {
    if (finding.direction != Direction::slow) {
      continue;
    }
    for (const auto& [sweep, points] : sweeps_of(metrics, finding)) {
      const auto shares = shares_by_size(points);
      const std::string text = shares ? text_of(sweep, *shares) : "";
      if (!text.empty()) {
        finding.evidence.push_back({text, sweep});
      }
    }
  }
}

}  // namespace fleetbench::detect
