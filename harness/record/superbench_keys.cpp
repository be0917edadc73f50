#include "harness/record/superbench_keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

namespace fleetbench::record {
namespace {

constexpr std::size_t kMostNamed = 10;
constexpr std::string_view kTelemetry = "monitor";  // SuperBench's name for it

// "ib_write_bw_8388608_cpu-to-cpu_0_3" without the numbers of round and pair, so that links have a
// metric in common.
std::string_view without_round_and_pair(std::string_view metric) {
  std::string_view rest = metric;
  for (int i = 0; i < 2; ++i) {
    const auto last = rest.find_last_not_of("0123456789");
    if (last == std::string_view::npos || last + 1 == rest.size() || rest[last] != '_') {
      return metric;
    }
    rest = rest.substr(0, last);
  }
  return rest;
}

class Keys {
 public:
  explicit Keys(SampleRows& rows) : rows_(rows) {}

  void add(const std::string& name) {
    KnownKey& key = keys_.emplace_back();
    auto parts = parse_superbench_key(name);
    if (!parts) {
      rows_.warn("unknown_key", 0, 0, fmt::format("key \"{}\" is of no benchmark", name));
      return;
    }
    key.of_benchmark = true;
    key.parts = std::move(*parts);
    if (!key.parts.suffix.empty()) {
      find_ends(key);
    }
    key.facts = superbench_facts(key.parts.benchmark, key.parts.metric);
    key.step = rows_.steps.number(key.parts.benchmark);
    if (key.facts.role != SuperbenchRole::return_code) {
      key.metric = metric_of(key);
    }
  }

  std::vector<KnownKey> result() && {
    find_devices();
    say_what_is_not_judged();
    return std::move(keys_);
  }

 private:
  // "hpc-a01_hpc-a02", of which one at least has a line; anything else belongs to the name.
  void find_ends(KnownKey& key) {
    const std::string& both = key.parts.suffix;
    for (const bool need_both : {true, false}) {
      for (auto cut = both.find('_'); cut != std::string::npos; cut = both.find('_', cut + 1)) {
        const std::string a = both.substr(0, cut);
        const std::string b = both.substr(cut + 1);
        const bool knows_a = rows_.nodes.find(a).has_value();
        const bool knows_b = rows_.nodes.find(b).has_value();
        const bool enough = need_both ? knows_a && knows_b : knows_a || knows_b;
        if (enough && a != b && !a.empty() && !b.empty()) {
          key.a = rows_.nodes.number(a);
          key.b = rows_.nodes.number(b);
          key.parts.metric = without_round_and_pair(key.parts.metric);
          return;
        }
      }
    }
    key.parts.metric += ":" + both;
  }

  int metric_of(const KnownKey& key) {
    const std::string name = key.parts.benchmark + "/" + key.parts.metric;
    const int number = metrics_.number(name);
    if (number == static_cast<int>(rows_.metrics.size())) {
      ImportedMetric metric;
      metric.step = key.step;
      metric.name = key.parts.metric;
      metric.unit = key.facts.unit;
      metric.better = key.facts.better;
      metric.layer = key.facts.layer;
      metric.covariate = key.parts.benchmark == kTelemetry;
      metric.judged = key.facts.better.has_value() && !metric.covariate;
      if (!metric.judged && !metric.covariate && !key.facts.setting) {
        not_judged_.push_back(name);
      }
      rows_.metrics.push_back(std::move(metric));
    }
    return number;
  }

  // A benchmark of all GPUs of a node reports as rank 0, and means the node.
  void find_devices() {
    std::vector<bool> has_ranks(static_cast<std::size_t>(rows_.steps.size()), false);
    for (const KnownKey& key : keys_) {
      if (key.of_benchmark && key.parts.rank.value_or(0) > 0) {
        has_ranks[static_cast<std::size_t>(key.step)] = true;
      }
    }
    for (KnownKey& key : keys_) {
      if (key.of_benchmark && key.parts.rank && has_ranks[static_cast<std::size_t>(key.step)]) {
        key.device = rows_.devices.number(fmt::format("rank{}", *key.parts.rank));
      }
    }
  }

  void say_what_is_not_judged() {
    if (not_judged_.empty()) {
      return;
    }
    const std::span shown(not_judged_.data(), std::min(not_judged_.size(), kMostNamed));
    const std::string more = not_judged_.size() > shown.size()
                                 ? fmt::format(" and {} more", not_judged_.size() - shown.size())
                                 : "";
    rows_.warn("unknown_direction", 0, 0,
               fmt::format("not judged, since the name does not tell whether higher is better: "
                           "{}{}",
                           fmt::join(shown, ", "), more));
  }

  SampleRows& rows_;
  std::vector<KnownKey> keys_;
  NameTable metrics_;  // of benchmark and metric
  std::vector<std::string> not_judged_;
};

}  // namespace

std::vector<KnownKey> understand_keys(const NameTable& names, SampleRows& rows) {
  Keys keys(rows);
  for (int name = 0; name < names.size(); ++name) {
    keys.add(names.name(name));
  }
  return std::move(keys).result();
}

}  // namespace fleetbench::record
