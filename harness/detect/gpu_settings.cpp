#include "harness/detect/gpu_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/detect/majority.hpp"
#include "results-schema/json_at.hpp"

namespace fleetbench::detect {
namespace {

constexpr const char* kPart = "gpu";
constexpr const char* kModel = "gpu.model";
// Of so few nodes it takes more than a majority to say that GPUs should be alike.
constexpr double kMostOdd = 0.2;
constexpr double kMostNodes = 0.6;

struct Gpu {
  int node = 0;
  std::string label;
  const Facts* facts = nullptr;

  std::string_view value(const std::string& path) const {
    const auto found = facts->find(path);
    return found == facts->end() ? kNone : std::string_view(found->second);
  }
};

using Gpus = std::vector<Gpu>;

Gpus gpus_of(const std::vector<NodeInfo>& nodes, const std::vector<int>& members, FactPool& pool) {
  Gpus gpus;
  for (const int node : members) {
    const Json& cuda = nodes[static_cast<std::size_t>(node)].inventory.part("cuda");
    const auto list = cuda.is_object() ? cuda.find("gpus") : cuda.end();
    for (std::size_t i = 0; cuda.is_object() && list != cuda.end() && i < list->size(); ++i) {
      const Json& gpu = (*list)[i];
      if (gpu.is_object()) {
        const std::string label = text_at(gpu, "label");
        gpus.push_back(
            {node, label.empty() ? text_at(gpu, "address") : label, &pool.facts_of(kPart, gpu)});
      }
    }
  }
  return gpus;
}

Counts counts_of(const Gpus& gpus, const std::string& path) {
  Counts counts;
  for (const Gpu& gpu : gpus) {
    ++counts[gpu.value(path)];
  }
  return counts;
}

// Whether GPUs should be alike in it: all of a node are, on most nodes.
bool is_common(const Gpus& gpus, const std::string& path, const Majority& most) {
  std::map<int, std::set<std::string_view>> by_node;
  for (const Gpu& gpu : gpus) {
    by_node[gpu.node].insert(gpu.value(path));
  }
  if (by_node.size() < kFewestNodes) {
    return static_cast<double>(most.of - most.count) <=
           std::max(1.0, kMostOdd * static_cast<double>(most.of));
  }
  const auto alike = static_cast<std::size_t>(
      std::ranges::count_if(by_node, [](const auto& entry) { return entry.second.size() == 1; }));
  return static_cast<double>(alike) >= kMostNodes * static_cast<double>(by_node.size());
}

std::string name_in(const std::string& path) {
  return path.substr(std::string_view(kPart).size() + 1);
}

class PathComparison {
 public:
  PathComparison(const Gpus& gpus, std::string path) : gpus_(gpus), path_(std::move(path)) {
    const Counts counts = counts_of(gpus_, path_);
    most_ = majority_of(path_, counts);
  }

  bool tells_of_gpus() const { return tells(most_) && is_common(gpus_, path_, most_); }

  void list(std::vector<Difference>& result) const {
    std::map<int, Gpus> odd;
    std::map<int, std::size_t> all;
    std::map<std::string_view, std::size_t> alike;
    for (const Gpu& gpu : gpus_) {
      ++all[gpu.node];
      if (!same(path_, gpu.value(path_), most_.value)) {
        odd[gpu.node].push_back(gpu);
        ++alike[gpu.value(path_)];
      }
    }
    for (const auto& [node, some] : odd) {
      const bool is_whole =
          some.size() > 1 && some.size() == all.at(node) && counts_of(some, path_).size() == 1;
      if (is_whole) {
        result.push_back(difference(some.front(), "", alike));
      }
      for (std::size_t i = 0; !is_whole && i < some.size(); ++i) {
        result.push_back(difference(some[i], some[i].label, alike));
      }
    }
  }

 private:
  // Without a label it is one of all GPUs of the node.
  Difference difference(const Gpu& gpu, const std::string& label,
                        const std::map<std::string_view, std::size_t>& alike) const {
    const std::string_view value = gpu.value(path_);
    Difference difference;
    difference.node = gpu.node;
    difference.path =
        fmt::format("{}{}].{}", kGpuPaths, label.empty() ? "*" : label, name_in(path_));
    difference.text = fmt::format("{} of {} is {}, {} of {} GPUs have {}", name_in(path_),
                                  label.empty() ? "all its GPUs" : label, shown(value), most_.count,
                                  most_.of, shown(most_.value));
    difference.alike = alike.at(value);
    difference.device = label;
    return difference;
  }

  const Gpus& gpus_;
  std::string path_;
  Majority most_;
};

std::set<std::string> paths_of(const Gpus& gpus) {
  std::set<std::string> paths;
  std::set<const Facts*> seen;
  for (const Gpu& gpu : gpus) {
    if (seen.insert(gpu.facts).second) {
      for (const auto& [path, value] : *gpu.facts) {
        paths.insert(path);
      }
    }
  }
  return paths;
}

}  // namespace

void compare_gpus(const std::vector<NodeInfo>& nodes, const std::vector<int>& members,
                  FactPool& pool, std::vector<Difference>& result) {
  const Gpus all = gpus_of(nodes, members, pool);
  std::map<std::string_view, Gpus> by_model;
  for (const Gpu& gpu : all) {
    by_model[gpu.value(kModel)].push_back(gpu);
  }
  if (const PathComparison models(all, kModel); models.tells_of_gpus()) {
    models.list(result);
  }
  for (const auto& [model, gpus] : by_model) {
    for (const std::string& path : paths_of(gpus)) {
      if (const PathComparison one(gpus, path); one.tells_of_gpus()) {
        one.list(result);
      }
    }
  }
}

}  // namespace fleetbench::detect
