#include "harness/detect/reading_lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/detect/reading_comparison.hpp"
#include "harness/detect/replaced.hpp"
#include "harness/detect/robust.hpp"

namespace fleetbench::detect {
namespace {

// Nodes of a cohort: medians of more are no surer, and details of all would take long to lay out.
constexpr std::size_t kMostPeers = 256;

constexpr double kMost = 0.6;
constexpr std::size_t kFewestOthers = 2;
constexpr std::size_t kMostNames = 4;

using Texts = std::vector<std::string>;

std::string listed(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kMostNames);
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(shown);
  const std::string more =
      names.size() > shown ? fmt::format(" and {} more", names.size() - shown) : "";
  return fmt::format("{}{}", fmt::join(names.begin(), end, ", "), more);
}

class Comparer {
 public:
  Comparer(const ReadingsAtHand& at_hand, const Sides& sides)
      : readings_(at_hand.readings), names_(at_hand.names), peers_(at_hand.peers), sides_(sides) {
    const std::size_t count = std::max<std::size_t>(1, readings_.series().size());
    bar_ = {bar_.chance / static_cast<double>(count), at_hand.least_effect};
  }

  std::vector<Line> lines() const {
    std::vector<Line> lines;
    for (const Series& series : readings_.series()) {
      add_line(series, lines);
    }
    return lines;
  }

  std::string unread() const {
    std::vector<std::string> names;
    for (const Series& series : readings_.series()) {
      const auto name = std::string(series.type->name);
      if (is_unread(series) && std::ranges::find(names, name) == names.end()) {
        names.push_back(name);
      }
    }
    if (names.empty()) {
      return "";
    }
    const std::string reason = readings_.reason({sides_.node, sides_.device});
    return fmt::format("{} could not be read{}, the others' were{}", listed(names),
                       sides_.device.empty() ? "" : " of " + sides_.device,
                       reason.empty() ? "" : ": " + reason);
  }

 private:
  bool is_peer(const Reader& reader) const {
    const auto cohort = [this](int node) {
      return names_.cohorts.at(static_cast<std::size_t>(node));
    };
    return peers_[static_cast<std::size_t>(reader.node)] && !sides_.is_apart(reader) &&
           cohort(reader.node) == cohort(sides_.node);
  }

  std::vector<double> others_of(const Series& series) const {
    std::vector<double> others;
    for (const auto& [reader, value] : series.values) {
      if (is_peer(reader)) {
        others.push_back(value);
      }
    }
    return others;
  }

  void add_line(const Series& series, std::vector<Line>& lines) const {
    std::vector<Reader> odd_ones;
    std::vector<double> values;
    std::size_t own = 0;
    Odd odd;
    std::vector<double> others;
    for (const auto& [reader, value] : series.values) {
      if (!sides_.is_own(reader)) {
        continue;
      }
      others = own == 0 ? others_of(series) : std::move(others);
      ++own;
      if (const auto found = odd_among(*series.type, value, others, bar_)) {
        odd = *found;
        odd_ones.push_back(reader);
        values.push_back(value);
      }
    }
    if (!odd_ones.empty()) {
      const bool counts = series.type->kind == ReadingKind::counter;
      double value = 0;
      for (const double one : values) {
        value += one;
      }
      value = counts ? value : median(values);
      lines.push_back({series.type, evidence(series, odd_ones, own, value, odd)});
    }
  }

  Evidence evidence(const Series& series, const std::vector<Reader>& odd_ones, std::size_t own,
                    double value, const Odd& odd) const {
    const ReadingType& type = *series.type;
    const auto more = series.more.find(odd_ones.front());
    std::string text(type.text);
    text = replaced(std::move(text), "{of}", of(odd_ones, own));
    text = replaced(std::move(text), "{key}", series.key);
    text = replaced(std::move(text), "{more}", more == series.more.end() ? "" : more->second);
    text = replaced(std::move(text), "{value}", reading_text(type, value));
    text = odd.others ? replaced(std::move(text), "{others_have}", others_have(type, odd))
                      : replaced(std::move(text), " ({others_have})", "");
    text = replaced(std::move(text), "{others}", reading_text(type, odd.others.value_or(0)));
    return {sides_.prefix + text, kTelemetry,
            ReadingEvidence{series.path(), value, odd.others, std::string(type.unit)}};
  }

  // " of gpu2", " of all 4 GPUs"; nothing of a node.
  static std::string of(const std::vector<Reader>& odd_ones, std::size_t own) {
    if (odd_ones.front().device.empty()) {
      return "";
    }
    if (own > 1 && odd_ones.size() == own) {
      return fmt::format(" of all {} devices", own);
    }
    Texts names;
    for (const Reader& reader : odd_ones) {
      names.push_back(reader.device);
    }
    return " of " + listed(names);
  }

  // Of another port, say, the same was read.
  bool has_own(const ReadingType& type) const {
    return std::ranges::any_of(readings_.series(), [&](const Series& series) {
      return series.type == &type && std::ranges::any_of(series.values, [&](const auto& value) {
               return sides_.is_own(value.first);
             });
    });
  }

  bool is_unread(const Series& series) const {
    std::size_t peers = 0;
    std::size_t read = 0;
    bool is_one_of_them = false;
    for (const Reader& reader : readings_.readers(*series.type)) {
      if (sides_.is_own(reader)) {
        is_one_of_them = true;
      } else if (is_peer(reader)) {
        ++peers;
        read += series.values.contains(reader) ? 1 : 0;
      }
    }
    return is_one_of_them && peers >= kFewestOthers &&
           static_cast<double>(read) >= kMost * static_cast<double>(peers) &&
           !has_own(*series.type);
  }

  const ReadingsOfSteps& readings_;
  const Names& names_;
  const std::vector<bool>& peers_;
  const Sides& sides_;
  Bar bar_;
};

}  // namespace

std::vector<bool> peers_in(const Names& names) {
  std::map<int, std::size_t> sizes;
  for (const int cohort : names.cohorts) {
    ++sizes[cohort];
  }
  std::map<int, std::size_t> seen;
  std::vector<bool> peers;
  for (const int cohort : names.cohorts) {
    const std::size_t every = (sizes[cohort] + kMostPeers - 1) / kMostPeers;
    peers.push_back(seen[cohort]++ % every == 0);
  }
  return peers;
}

std::vector<Line> lines_of(const ReadingsAtHand& at_hand, const Sides& sides) {
  return Comparer(at_hand, sides).lines();
}

std::string unread_of(const ReadingsAtHand& at_hand, const Sides& sides) {
  return Comparer(at_hand, sides).unread();
}

}  // namespace fleetbench::detect
