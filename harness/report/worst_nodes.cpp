#include "harness/report/worst_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "harness/report/median.hpp"
#include "harness/report/text_layout.hpp"

namespace fleetbench::report {
namespace {

constexpr std::size_t kWorstNodes = 10;
constexpr double kNothing = std::numeric_limits<double>::infinity();

// A pair of a node, by its other end.
struct Pair {
  double speed = kNothing;
  std::size_t other = 0;
  bool is_received = false;

  auto operator<=>(const Pair&) const = default;
};

struct NodeLine {
  std::size_t place = 0;
  std::vector<double> sent;
  std::vector<double> received;
  std::optional<double> sends;
  std::optional<double> receives;
  std::size_t failed = 0;  // each way
  Pair slowest;

  void add(const PairCell& cell, const std::optional<double>& speed, bool is_received) {
    failed += cell.failed || cell.wrong ? 1 : 0;
    if (speed) {
      (is_received ? received : sent).push_back(*speed);
      slowest = std::min(slowest, Pair{*speed, is_received ? cell.from : cell.to, is_received});
    }
  }
  double worst() const { return std::min(sends.value_or(kNothing), receives.value_or(kNothing)); }
};

std::vector<NodeLine> lines_of(std::size_t nodes, const std::vector<PairCell>& cells,
                               const std::vector<std::optional<double>>& speeds) {
  std::vector<NodeLine> lines(nodes);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    lines[cells[i].from].add(cells[i], speeds[i], false);
    lines[cells[i].to].add(cells[i], speeds[i], true);
  }
  for (std::size_t i = 0; i < nodes; ++i) {
    lines[i].place = i;
    lines[i].sends = median(lines[i].sent);
    lines[i].receives = median(lines[i].received);
  }
  return lines;
}

}  // namespace

std::string worst_nodes_text(std::size_t nodes, const std::vector<PairCell>& cells,
                             const std::vector<std::optional<double>>& speeds,
                             const std::function<std::string(std::size_t)>& name_of) {
  std::vector<NodeLine> lines = lines_of(nodes, cells, speeds);
  std::ranges::stable_sort(lines, {}, &NodeLine::worst);
  const auto pct = [](const std::optional<double>& speed) {
    return speed ? fmt::format("{:.0f}", 100 * *speed) : std::string("?");
  };
  std::vector<std::vector<std::string>> rows{
      {"node", "sends", "receives", "measured", "failed", "slowest"}};
  for (std::size_t i = 0; i < std::min(kWorstNodes, lines.size()); ++i) {
    const NodeLine& line = lines[i];
    const std::size_t measured = line.sent.size() + line.received.size();
    const std::string slowest =
        measured == 0
            ? ""
            : fmt::format("{} {} {}", pct(line.slowest.speed),
                          line.slowest.is_received ? "from" : "to", name_of(line.slowest.other));
    rows.push_back({name_of(line.place), pct(line.sends), pct(line.receives),
                    fmt::format("{}", measured), fmt::format("{}", line.failed), slowest});
  }
  return fmt::format("{} nodes are too many for a matrix; the {} slowest by their median pair:\n",
                     nodes, rows.size() - 1) +
         table(rows, "", true);
}

}  // namespace fleetbench::report
