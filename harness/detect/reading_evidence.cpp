#include "harness/detect/reading_evidence.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "harness/detect/reading_comparison.hpp"
#include "harness/detect/reduce.hpp"
#include "harness/detect/robust.hpp"

namespace fleetbench::detect {
namespace {

constexpr const char* kSource = "telemetry";
constexpr double kMost = 0.6;
constexpr std::size_t kFewestOthers = 2;
constexpr std::size_t kMostNames = 4;
constexpr std::size_t kMostCauses = 2;

using Texts = std::vector<std::string>;

std::string listed(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kMostNames);
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(shown);
  const std::string more =
      names.size() > shown ? fmt::format(" and {} more", names.size() - shown) : "";
  return fmt::format("{}{}", fmt::join(names.begin(), end, ", "), more);
}

std::string replaced(std::string text, std::string_view mark, std::string_view with) {
  for (std::size_t at = text.find(mark); at != std::string::npos;
       at = text.find(mark, at + with.size())) {
    text.replace(at, mark.size(), with);
  }
  return text;
}

// Whose readings are laid beside whose.
struct Sides {
  int node = 0;
  std::string device;      // empty: all of the node's
  std::vector<int> apart;  // nodes of the finding, which are nobody's peers
  std::string prefix;      // of its lines: an end of a link is named

  bool is_own(const Reader& reader) const {
    return reader.node == node &&
           (device.empty() || reader.device.empty() || reader.device == device);
  }
  bool is_apart(const Reader& reader) const {
    return reader.device.empty() || device.empty()
               ? std::ranges::find(apart, reader.node) != apart.end()
               : is_own(reader);
  }
};

struct Line {
  const ReadingType* type = nullptr;
  Evidence evidence;
};

class Comparer {
 public:
  Comparer(const ReadingsOfSteps& readings, const Names& names, const Sides& sides, double effect)
      : readings_(readings), names_(names), sides_(sides) {
    const std::size_t count = std::max<std::size_t>(1, readings.series().size());
    bar_ = {bar_.chance / static_cast<double>(count), effect};
  }

  std::vector<Line> lines() const {
    std::vector<Line> lines;
    for (const Series& series : readings_.series()) {
      add_line(series, lines);
    }
    return lines;
  }

  // What most others have and none of its own; empty where there is nothing like that.
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
    return !sides_.is_apart(reader) && cohort(reader.node) == cohort(sides_.node);
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
    return {sides_.prefix + text, kSource,
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

  bool is_unread(const Series& series) const {
    std::size_t peers = 0;
    std::size_t read = 0;
    bool has_own = false;
    for (const Reader& reader : readings_.readers(*series.type)) {
      const bool has = series.values.contains(reader);
      if (sides_.is_own(reader)) {
        has_own = true;
        if (has) {
          return false;
        }
      } else if (is_peer(reader)) {
        ++peers;
        read += has ? 1 : 0;
      }
    }
    return has_own && peers >= kFewestOthers &&
           static_cast<double>(read) >= kMost * static_cast<double>(peers);
  }

  const ReadingsOfSteps& readings_;
  const Names& names_;
  const Sides& sides_;
  Bar bar_;
};

class Teller {
 public:
  Teller(const RunData& run, const Names& names, const DetectOptions& options)
      : run_(run), names_(names), options_(options) {
    for (std::size_t i = 0; i < names.nodes.size(); ++i) {
      nodes_[names.nodes[i]] = static_cast<int>(i);
    }
    for (const StepRecord& step : run.steps) {
      steps_[step.id] = step.step;
      for (const MetricInfo& metric : step.metrics) {
        steps_[full_name(step, metric)] = step.step;
      }
    }
  }

  void tell(Finding& finding) {
    const auto sides = sides_of(finding.subject);
    const auto steps = steps_of(finding);
    if (sides.empty() || steps.empty()) {
      return;
    }
    auto& readings = read_[steps];
    if (readings == nullptr) {
      readings = std::make_unique<ReadingsOfSteps>(run_, steps);
    }
    std::vector<Line> lines;
    std::vector<Evidence> unread;
    for (const Sides& side : sides) {
      const Comparer comparer(*readings, names_, side, min_effect(options_, finding.layer));
      for (Line& line : comparer.lines()) {
        lines.push_back(std::move(line));
      }
      if (auto text = comparer.unread(); !text.empty()) {
        unread.push_back({side.prefix + text, kSource});
      }
    }
    std::ranges::stable_sort(lines, {}, [](const Line& line) { return line.type; });
    add(std::move(lines), finding);
    std::ranges::move(unread, std::back_inserter(finding.evidence));
  }

 private:
  std::vector<Sides> sides_of(const Subject& subject) const {
    const bool is_link = subject.kind == "link";
    std::vector<Sides> sides;
    for (const std::string& name : is_link ? Texts{subject.a, subject.b} : Texts{subject.node}) {
      const auto found = nodes_.find(name);
      if (found != nodes_.end()) {
        sides.push_back({found->second, subject.device, {}, is_link ? name + ": " : ""});
      }
    }
    for (Sides& side : sides) {
      for (const Sides& other : sides) {
        side.apart.push_back(other.node);
      }
    }
    return sides;
  }

  std::vector<int> steps_of(const Finding& finding) const {
    std::vector<int> steps;
    const auto add = [&](const std::string& name) {
      const auto found = steps_.find(name);
      if (found != steps_.end()) {
        steps.push_back(found->second);
      }
    };
    for (const MetricEvidence& metric : finding.metrics) {
      add(metric.metric);
    }
    for (const Evidence& evidence : finding.evidence) {
      add(evidence.source);
    }
    std::ranges::sort(steps);
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    return steps;
  }

  // What a covariate of the figures tells already is not said twice.
  static bool is_told(const ReadingType& type, const Finding& finding) {
    const auto is_covariate = [&](const std::string& name) {
      return type.kind == ReadingKind::level && type.path.starts_with("/gpu/" + name);
    };
    return std::ranges::any_of(finding.explained_by_covariates, is_covariate);
  }

  static void add(std::vector<Line> lines, Finding& finding) {
    std::erase_if(lines, [&](const Line& line) { return is_told(*line.type, finding); });
    lines.resize(std::min(lines.size(), kMostReadings));
    std::vector<std::string> causes;
    for (Line& line : lines) {
      if ((line.type->causes & bit(finding.layer)) != 0 && causes.size() < kMostCauses) {
        causes.push_back(line.evidence.text);
      }
      finding.evidence.push_back(std::move(line.evidence));
    }
    finding.cause = fmt::format("{}", fmt::join(causes, ", "));
  }

  const RunData& run_;
  const Names& names_;
  const DetectOptions& options_;
  std::unordered_map<std::string, int> nodes_;
  std::unordered_map<std::string, int> steps_;  // by id and by the full names of their metrics
  std::map<std::vector<int>, std::unique_ptr<ReadingsOfSteps>> read_;
};

}  // namespace

void add_readings(const RunData& run, const Names& names, const DetectOptions& options,
                  std::vector<Finding>& findings) {
  if (run.imported) {
    return;
  }
  Teller teller(run, names, options);
  for (Finding& finding : findings) {
    if (finding.direction != Direction::fast) {
      teller.tell(finding);
    }
  }
}

}  // namespace fleetbench::detect
