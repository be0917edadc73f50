#include "harness/report/pair_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/report/escape.hpp"
#include "harness/report/node_order.hpp"
#include "harness/report/pair_data.hpp"
#include "harness/report/text_layout.hpp"
#include "harness/report/units.hpp"

namespace fleetbench {
namespace {

using namespace report;

constexpr std::size_t kWidth = 100;
constexpr std::size_t kWorstNodes = 10;
constexpr int kNear_pct = 5;

constexpr const char* kNear = "\u00b7";
constexpr const char* kItself = "-";
constexpr const char* kNotMeasured = "?";
constexpr const char* kFailed = "X";
constexpr const char* kWrong = "W";
constexpr const char* kOver = "++";

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) {
    return std::nullopt;
  }
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// A matrix with its values as speeds against the median pair.
class Picture {
 public:
  Picture(const RunData& run, const PairMatrix& matrix) : run_(run), matrix_(matrix) {
    std::vector<double> values;
    for (const auto& row : matrix.cells) {
      for (const PairCell& cell : row) {
        if (cell.value) {
          values.push_back(*cell.value);
        }
      }
    }
    median_ = median(std::move(values));
    for (const auto& row : matrix.cells) {
      auto& speeds = speeds_.emplace_back();
      for (const PairCell& cell : row) {
        speeds.push_back(speed_of(cell));
      }
    }
  }

  std::string text() {
    std::string text = heading();
    if (!median_) {
      return text + "no pair gave a value\n";
    }
    return text + (matrix_.nodes.size() > kMostNodesOfMatrix ? worst_nodes() : squares());
  }

 private:
  std::optional<double> speed_of(const PairCell& cell) const {
    if (!cell.value) {
      return std::nullopt;
    }
    return matrix_.metric->better == Better::higher ? *cell.value / *median_
                                                    : *median_ / *cell.value;
  }

  std::string heading() const {
    const std::string rail = matrix_.rail.empty()           ? ""
                             : matrix_.rail == kAcrossRails ? ", across rails"
                                                            : ", rail " + escaped(matrix_.rail);
    const std::string of_median = median_ ? fmt::format(": speed in % of the median pair, {}",
                                                        in_unit(*median_, matrix_.metric->unit))
                                          : "";
    return fmt::format("{}.{}{}{}\n", escaped(matrix_.step->id), escaped(matrix_.metric->name),
                       rail, of_median);
  }

  std::string name(std::size_t place) const {
    const int node = matrix_.nodes[place];
    return escaped(run_.header.nodes.at(static_cast<std::size_t>(node)).name);
  }

  std::string squares() {
    order_ = order_by_likeness(speeds_);
    choose_labels();
    std::string text = row_of("", [&](std::size_t to) { return labels_[to]; });
    for (const std::size_t from : order_) {
      text += row_of(labels_[from], [&](std::size_t to) { return cell_text(from, to); });
    }
    return text + key() + legend();
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
    const PairCell& cell = matrix_.cells[from][to];
    const char* mark = from == to    ? kItself
                       : cell.wrong  ? kWrong
                       : cell.value  ? nullptr
                       : cell.failed ? kFailed
                                     : kNotMeasured;
    if (mark == nullptr) {
      const double pct = 100 * *speeds_[from][to];
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
    for (std::size_t i = 0; i < matrix_.nodes.size(); ++i) {
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
    std::string text = matrix_.metric->symmetric ? "" : "rows send, columns receive";
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

  struct NodeLine {
    std::size_t place = 0;
    std::optional<double> sends;
    std::optional<double> receives;
    std::size_t pairs = 0;  // measured, each way
    std::size_t failed = 0;
    std::string slowest;

    double worst() const { return std::min(sends.value_or(1e9), receives.value_or(1e9)); }
  };

  NodeLine line_of(std::size_t place) const {
    NodeLine line{.place = place};
    std::vector<double> sends;
    std::vector<double> receives;
    double least = 1e9;
    for (std::size_t k = 0; k < speeds_.size(); ++k) {
      for (const bool sending : {true, false}) {
        const std::size_t from = sending ? place : k;
        const std::size_t to = sending ? k : place;
        const auto& speed = speeds_[from][to];
        line.failed += matrix_.cells[from][to].failed || matrix_.cells[from][to].wrong ? 1 : 0;
        if (!speed) {
          continue;
        }
        ++line.pairs;
        (sending ? sends : receives).push_back(*speed);
        if (*speed < least) {
          least = *speed;
          line.slowest = fmt::format("{:.0f} {} {}", 100 * least, sending ? "to" : "from", name(k));
        }
      }
    }
    line.sends = median(std::move(sends));
    line.receives = median(std::move(receives));
    return line;
  }

  std::string worst_nodes() const {
    std::vector<NodeLine> lines;
    for (std::size_t i = 0; i < speeds_.size(); ++i) {
      lines.push_back(line_of(i));
    }
    std::ranges::stable_sort(lines, {}, &NodeLine::worst);
    const auto pct = [](const std::optional<double>& speed) {
      return speed ? fmt::format("{:.0f}", 100 * *speed) : std::string(kNotMeasured);
    };
    std::vector<std::vector<std::string>> rows{
        {"node", "sends", "receives", "measured", "failed", "slowest"}};
    for (std::size_t i = 0; i < std::min(kWorstNodes, lines.size()); ++i) {
      const NodeLine& line = lines[i];
      rows.push_back({name(line.place), pct(line.sends), pct(line.receives),
                      fmt::format("{}", line.pairs), fmt::format("{}", line.failed), line.slowest});
    }
    return fmt::format("{} nodes are too many for a matrix; the {} slowest by their median pair:\n",
                       lines.size(), rows.size() - 1) +
           table(rows, "", true);
  }

  const RunData& run_;
  const PairMatrix& matrix_;
  std::optional<double> median_;
  PairSpeeds speeds_;
  std::vector<std::size_t> order_;
  std::vector<std::string> labels_;
  std::size_t label_width_ = 0;
  std::size_t cell_width_ = 0;
  bool has_names_ = false;
  std::set<std::string> marks_;
};

bool is_about(const Finding& finding, const PairMatrix& matrix) {
  const std::string metric = matrix.step->id + "." + matrix.metric->name;
  const bool is_slow =
      finding.direction != Direction::fast && finding.status != FindingStatus::not_reproduced;
  return is_slow && std::ranges::any_of(finding.metrics, [&](const MetricEvidence& evidence) {
           return evidence.metric == metric || evidence.metric.starts_with(metric + " ");
         });
}

}  // namespace

std::string pair_matrices_text(const RunData& run) {
  std::string text;
  for (const PairMatrix& matrix : pair_matrices(run)) {
    text += (text.empty() ? "" : "\n") + Picture(run, matrix).text();
  }
  return text;
}

std::string pair_matrices_of_findings(const RunData& run, const Report& report) {
  std::string text;
  for (const PairMatrix& matrix : pair_matrices(run)) {
    const bool belongs = std::ranges::any_of(
        report.findings, [&](const Finding& finding) { return is_about(finding, matrix); });
    if (belongs && matrix.nodes.size() <= kMostNodesOfMatrix) {
      text += (text.empty() ? "" : "\n") + Picture(run, matrix).text();
    }
  }
  return text;
}

}  // namespace fleetbench
