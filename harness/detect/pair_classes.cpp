#include "harness/detect/pair_classes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "harness/detect/blocks.hpp"
#include "harness/detect/name_list.hpp"
#include "harness/detect/robust.hpp"

namespace fleetbench::detect {
namespace {

constexpr std::size_t kFewestOfClass = 5;  // pairs
constexpr double kSureErrors = 3;
constexpr std::size_t kMostBlocksTold = 8;
constexpr std::size_t kMostNodesTold = 16;

using Class = std::pair<int, int>;

// The faster quarter: what slow nodes and switches spoil is the other end.
double fast_level(std::vector<double> values) {
  const auto place = values.begin() + std::ssize(values) / 4;
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

std::vector<double> levels_of(const Table& links) {
  std::vector<double> levels;
  levels.reserve(links.rows.size());
  for (std::size_t row = 0; row < links.rows.size(); ++row) {
    levels.push_back(level(links.values(row)));
  }
  return levels;
}

std::map<Class, std::vector<double>> by_class(const std::vector<double>& levels,
                                              const std::vector<Class>& classes) {
  std::map<Class, std::vector<double>> result;
  for (std::size_t row = 0; row < levels.size(); ++row) {
    if (!std::isnan(levels[row])) {
      result[classes[row]].push_back(levels[row]);
    }
  }
  return result;
}

std::vector<double> offsets_of(const std::vector<double>& levels,
                               const std::vector<Class>& classes) {
  std::map<Class, double> offsets;
  const auto of_classes = by_class(levels, classes);
  if (of_classes.size() < 2) {
    return std::vector<double>(levels.size(), 0.0);
  }
  std::vector<double> all;
  for (const auto& [key, values] : of_classes) {
    all.insert(all.end(), values.begin(), values.end());
  }
  const double usual = fast_level(all);
  for (const auto& [key, values] : of_classes) {
    const double offset = values.size() < kFewestOfClass ? 0 : fast_level(values) - usual;
    const double error =
        robust_sigma(values) * std::sqrt(kMedianVariance / static_cast<double>(values.size()));
    offsets[key] = std::abs(offset) > kSureErrors * error ? offset : 0;
  }
  std::vector<double> result;
  result.reserve(levels.size());
  for (const Class& key : classes) {
    const auto found = offsets.find(key);
    const bool known = key.first >= 0 && found != offsets.end();
    result.push_back(known ? found->second : 0);
  }
  return result;
}

template <typename ClassOf>
std::vector<Class> classes_of(const Table& links, ClassOf class_of) {
  std::vector<Class> classes;
  classes.reserve(links.rows.size());
  for (const Row& row : links.rows) {
    classes.push_back(class_of(row.node, row.peer));
  }
  return classes;
}

std::vector<PairValue> pair_values(const Table& links, const std::vector<double>& levels) {
  std::vector<PairValue> values;
  values.reserve(levels.size());
  for (std::size_t row = 0; row < levels.size(); ++row) {
    if (!std::isnan(levels[row])) {
      values.push_back({links.rows[row].node, links.rows[row].peer, levels[row]});
    }
  }
  return values;
}

std::vector<std::vector<std::string>> names_by_block(const std::vector<int>& block, int blocks,
                                                     const Names& names) {
  std::vector<std::vector<std::string>> result(static_cast<std::size_t>(blocks));
  for (std::size_t node = 0; node < block.size(); ++node) {
    if (block[node] >= 0) {
      result[block[node]].push_back(names.nodes[node]);
    }
  }
  std::erase_if(result, [](const auto& nodes) { return nodes.empty(); });
  return result;
}

void report_blocks(const Table& links, const std::vector<double>& levels, const Names& names,
                   const std::vector<int>& block, int count, double least, PairClasses& result) {
  std::vector<double> within;
  std::vector<double> across;
  for (std::size_t row = 0; row < levels.size(); ++row) {
    const int a = block[links.rows[row].node];
    const int b = block[links.rows[row].peer];
    if (!std::isnan(levels[row]) && a >= 0 && b >= 0) {
      (a == b ? within : across).push_back(levels[row]);
    }
  }
  if (within.empty() || across.empty() || median(across) - median(within) < least) {
    return;
  }
  Blocks blocks{links.metric, links.info.unit, names_by_block(block, count, names),
                to_value(median(within), links.info.better),
                to_value(median(across), links.info.better)};
  result.blocks = std::move(blocks);
}

// Of few leaves: what crossing costs beyond the slower of the two leaves, which may be at fault;
// the least of all pairs of leaves, or the lower quarter of them. None where a leaf has too few
// pairs.
std::optional<double> cost_of_crossing(const Table& links, const std::vector<double>& levels,
                                       const std::vector<int>& leaf) {
  const auto of_leaves = by_class(levels, classes_of(links, [&](int a, int b) {
                                    return Class(std::minmax(leaf[a], leaf[b]));
                                  }));
  const auto fast = [&](int a, int b) -> std::optional<double> {
    const auto found = of_leaves.find({a, b});
    return found == of_leaves.end() || found->second.size() < kFewestOfClass
               ? std::nullopt
               : std::optional(fast_level(found->second));
  };
  std::vector<double> costs;
  for (const auto& [key, values] : of_leaves) {
    const auto& [a, b] = key;
    const auto own = fast(a, a);
    const auto other = fast(b, b);
    const auto across = fast(a, b);
    if (a >= 0 && a != b && own && other && across) {
      costs.push_back(*across - std::max(*own, *other));
    }
  }
  return costs.empty() ? std::nullopt : std::optional(fast_level(std::move(costs)));
}

constexpr std::size_t kFewLeaves = 4;

PairClasses by_switches(const Table& links, const std::vector<double>& levels, const Names& names,
                        const Switches& switches, double least) {
  PairClasses result;
  result.offsets = offsets_of(
      levels, classes_of(links, [&](int a, int b) { return Class(switches.distance(a, b), 0); }));
  std::vector<int> leaf;
  for (std::size_t node = 0; node < names.nodes.size(); ++node) {
    leaf.push_back(switches.leaf_of(static_cast<int>(node)));
  }
  if (switches.leaf_names().size() <= kFewLeaves) {
    if (const auto cost = cost_of_crossing(links, levels, leaf)) {
      for (std::size_t row = 0; row < levels.size(); ++row) {
        const Row& pair = links.rows[row];
        const int a = leaf[pair.node];
        const int b = leaf[pair.peer];
        const bool crosses = a >= 0 && b >= 0 && a != b;
        result.offsets[row] = crosses && *cost >= least / 2 ? *cost : 0;
      }
    }
  }
  report_blocks(links, levels, names, leaf, static_cast<int>(switches.leaf_names().size()), least,
                result);
  if (result.blocks && switches.leaf_names().size() == 2) {
    result.notes.push_back(fmt::format(
        "{}: with two leaves a slow link between them cannot be told from what crossing costs",
        links.step_id));
  }
  return result;
}

}  // namespace

std::string describe_blocks(const Blocks& blocks) {
  std::vector<std::string> lists;
  for (const auto& nodes : blocks.nodes) {
    lists.push_back("{" + list_of(nodes, kMostNodesTold) + "}");
  }
  const bool many = lists.size() > kMostBlocksTold;
  return fmt::format(
      "{}: the nodes form {} blocks{}{}: {:.4g} {} within, {:.4g} across. That is how they are "
      "joined and no fault of a node; pairs are compared with pairs of the same blocks",
      blocks.metric, blocks.nodes.size(), many ? "" : ", ",
      many ? "" : fmt::format("{}", fmt::join(lists, " and ")), blocks.within, blocks.unit,
      blocks.across);
}

PairClasses classify(const Table& links, const Names& names, const Switches& switches,
                     double least) {
  const std::vector<double> levels = levels_of(links);
  if (switches.known()) {
    return by_switches(links, levels, names, switches, least);
  }
  PairClasses result;
  const auto nodes = static_cast<int>(names.nodes.size());
  const BlockSearch search = find_blocks(nodes, pair_values(links, levels), least);
  if (!search.looked_for && nodes >= 2 * kFewestPartners) {
    result.notes.push_back(
        fmt::format("{}: blocks of nodes were not looked for, since too few nodes met the same "
                    "partners: give the switches with --topology",
                    links.step_id));
  }
  if (search.block.empty()) {
    result.offsets.assign(levels.size(), 0.0);
    return result;
  }
  result.offsets = offsets_of(levels, classes_of(links, [&](int a, int b) {
                                return Class(std::minmax(search.block[a], search.block[b]));
                              }));
  report_blocks(links, levels, names, search.block, search.blocks, least, result);
  result.block = search.block;
  return result;
}

}  // namespace fleetbench::detect
