#include "harness/report/pair_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "harness/report/escape.hpp"
#include "harness/report/median.hpp"
#include "harness/report/node_order.hpp"
#include "harness/report/pair_data.hpp"
#include "harness/report/text_layout.hpp"
#include "harness/report/units.hpp"
#include "harness/report/worst_nodes.hpp"

namespace fleetbench {
namespace {

using namespace report;

constexpr std::size_t kWidth = 100;
constexpr int kNear_pct = 5;

constexpr const char* kNear = "\u00b7";
constexpr const char* kItself = "-";
constexpr const char* kNotMeasured = "?";
constexpr const char* kFailed = "X";
constexpr const char* kWrong = "W";
constexpr const char* kOver = "++";

// Pairs with their values as speeds against the median pair.
class Picture {
 public:
  Picture(const RunData& run, const PairSamples& pairs)
      : run_(run), pairs_(pairs), cells_(cells_of(pairs)) {
    std::vector<double> values;
    for (const PairCell& cell : cells_) {
      if (cell.value) {
        values.push_back(*cell.value);
      }
    }
    median_ = median(std::move(values));
    for (const PairCell& cell : cells_) {
      speeds_.push_back(speed_of(cell));
    }
  }

  std::string text() {
    std::string text = heading();
    if (!median_) {
      return text + "no pair gave a value\n";
    }
    const std::size_t nodes = pairs_.nodes.size();
    if (nodes > kMostNodesOfMatrix) {
      return text + worst_nodes_text(nodes, cells_, speeds_,
                                     [this](std::size_t place) { return name(place); });
    }
    return text + squares();
  }

 private:
  std::optional<double> speed_of(const PairCell& cell) const {
    if (!cell.value) {
      return std::nullopt;
    }
    return pairs_.metric->better == Better::higher ? *cell.value / *median_
                                                   : *median_ / *cell.value;
  }

  std::string heading() const {
    const std::string rail = pairs_.rail.empty()           ? ""
                             : pairs_.rail == kAcrossRails ? ", across rails"
                                                           : ", rail " + escaped(pairs_.rail);
    const std::string of_median = median_ ? fmt::format(": speed in % of the median pair, {}",
                                                        in_unit(*median_, pairs_.metric->unit))
                                          : "";
    return fmt::format("{}.{}{}{}\n", escaped(pairs_.step->id), escaped(pairs_.metric->name), rail,
                       of_median);
  }

  std::string name(std::size_t place) const {
    const int node = pairs_.nodes[place];
    return escaped(run_.header.nodes.at(static_cast<std::size_t>(node)).name);
  }

  std::string squares() {
    fill_matrix();
    order_ = order_by_likeness(matrix_speeds_);
    choose_labels();
    std::string text = row_of("", [&](std::size_t to) { return labels_[to]; });
    for (const std::size_t from : order_) {
      text += row_of(labels_[from], [&](std::size_t to) { return cell_text(from, to); });
    }
    return text + key() + legend();
  }

  void fill_matrix() {
    const std::size_t nodes = pairs_.nodes.size();
    matrix_.assign(nodes, std::vector<PairCell>(nodes));
    matrix_speeds_.assign(nodes, std::vector<std::optional<double>>(nodes));
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      matrix_[cells_[i].from][cells_[i].to] = cells_[i];
      matrix_speeds_[cells_[i].from][cells_[i].to] = speeds_[i];
    }
  }

  // Names where they fit, else numbers.
  void choose_labels() {
    const std::size_t nodes = order_.size();
    std::size_t widest = 0;
    for (std::size_t i = 0; i < nodes; ++i) {
      labels_.push_back(name(i));
      widest = std::max(widest, columns(labels_.back()));
    }
    cell_width_ = std::max<std::size_t>(widest, 3);
    label_width_ = widest;
    has_names_ = label_width_ + nodes * (cell_width_ + 1) <= kWidth;
    if (!has_names_) {
      label_width_ = 2;
      cell_width_ = label_width_ + nodes * 4 <= kWidth ? 3 : 2;
      for (std::size_t i = 0; i < nodes; ++i) {
        labels_[i] = fmt::format("{}", i);
      }
    }
  }

  template <typename Text>
  std::string row_of(const std::string& label, const Text& text_of) const {
    std::string line = label + std::string(label_width_ - columns(label), ' ');
    for (const std::size_t to : order_) {
      const std::string cell = text_of(to);
      line += std::string(cell_width_ + 1 - columns(cell), ' ') + cell;
    }
    return line + "\n";
  }

  std::string cell_text(std::size_t from, std::size_t to) {
    const PairCell& cell = matrix_[from][to];
    const char* mark = from == to    ? kItself
                       : cell.wrong  ? kWrong
                       : cell.value  ? nullptr
                       : cell.failed ? kFailed
                                     : kNotMeasured;
    if (mark == nullptr) {
      const double pct = 100 * *matrix_speeds_[from][to];
      const std::string number = fmt::format("{:.0f}", pct);
      mark = std::abs(pct - 100) <= kNear_pct ? kNear : number.size() > cell_width_ ? kOver : "";
      if (*mark == '\0') {
        return number;
      }
    }
    marks_.insert(mark);
    return mark;
  }

  std::string key() const {
    if (has_names_) {
      return "";
    }
    std::string text;
    for (std::size_t i = 0; i < pairs_.nodes.size(); ++i) {
      text += fmt::format("{}{}\u00a0{}", i == 0 ? "" : ", ", i, name(i));
    }
    return replaced_spaces(
        paragraph("", text, {.colour = false, .width = static_cast<int>(kWidth)}));
  }

  // A number and its name stay on one line.
  static std::string replaced_spaces(std::string text) {
    constexpr std::string_view kNoBreak = "\u00a0";
    for (std::size_t at; (at = text.find(kNoBreak)) != std::string::npos;) {
      text.replace(at, kNoBreak.size(), " ");
    }
    return text;
  }

  std::string legend() const {
    std::string text = pairs_.metric->symmetric ? "" : "rows send, columns receive";
    const std::pair<const char*, const char*> meanings[] = {{kNear, "within 5 % of the median"},
                                                            {kOver, "more than fits"},
                                                            {kNotMeasured, "not measured"},
                                                            {kFailed, "failed or timed out"},
                                                            {kWrong, "wrong data"}};
    for (const auto& [mark, meaning] : meanings) {
      if (marks_.contains(mark)) {
        text += fmt::format("{}{} {}", text.empty() ? "" : "; ", mark, meaning);
      }
    }
    return text.empty() ? "" : text + "\n";
  }

  const RunData& run_;
  const PairSamples& pairs_;
  std::vector<PairCell> cells_;
  std::optional<double> median_;
  std::vector<std::optional<double>> speeds_;  // of the cells
  std::vector<std::vector<PairCell>> matrix_;  // [from][to], as are its speeds
  PairSpeeds matrix_speeds_;
  std::vector<std::size_t> order_;
  std::vector<std::string> labels_;
  std::size_t label_width_ = 0;
  std::size_t cell_width_ = 0;
  bool has_names_ = false;
  std::set<std::string> marks_;
};

bool is_about(const Finding& finding, const StepRecord& step, const MetricInfo& info) {
  const std::string metric = step.id + "." + info.name;
  const bool is_slow =
      finding.direction != Direction::fast && finding.status != FindingStatus::not_reproduced;
  return is_slow && std::ranges::any_of(finding.metrics, [&](const MetricEvidence& evidence) {
           return evidence.metric == metric || evidence.metric.starts_with(metric + " ");
         });
}

std::string matrices_text(const RunData& run, const IsWanted& is_wanted, std::size_t most_nodes) {
  std::string text;
  for (const PairSamples& pairs : samples_of_pairs(run, is_wanted)) {
    if (pairs.nodes.size() <= most_nodes) {
      text += (text.empty() ? "" : "\n") + Picture(run, pairs).text();
    }
  }
  return text;
}

}  // namespace

std::string pair_matrices_text(const RunData& run) {
  return matrices_text(
      run, [](const auto&...) { return true; }, std::numeric_limits<std::size_t>::max());
}

std::string pair_matrices_of_findings(const RunData& run, const Report& report) {
  const auto is_wanted = [&](const StepRecord& step, const MetricInfo& metric) {
    return std::ranges::any_of(
        report.findings, [&](const Finding& finding) { return is_about(finding, step, metric); });
  };
  return matrices_text(run, is_wanted, kMostNodesOfMatrix);
}

}  // namespace fleetbench
