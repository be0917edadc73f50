#include "harness/record/topology_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <simdjson.h>

#include <algorithm>
#include <set>
#include <utility>

#include "harness/record/csv_columns.hpp"
#include "harness/record/node_list.hpp"
#include "harness/record/sample_rows.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::record {
namespace {

constexpr std::size_t kShown = 60;
constexpr std::size_t kMostOfAll = 2 * kMostNodesOfList;  // nodes, and switches below others

// One line, with those that it goes on in.
struct Entry {
  int line = 0;
  std::string text;
};

std::vector<Entry> entries_of(std::string_view text) {
  std::vector<Entry> entries;
  bool goes_on = false;
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    part = trimmed(part.substr(0, part.find('#')));
    if (!goes_on) {
      entries.push_back({line, ""});
    }
    goes_on = part.ends_with('\\');
    part.remove_suffix(goes_on ? 1 : 0);
    entries.back().text += part;
  }
  return entries;
}

class Reader {
 public:
  explicit Reader(const SourceText& source) : source_(source) {}

  TopologyFile result() && {
    std::string_view text = source_.text;
    constexpr std::string_view kMark = "\xEF\xBB\xBF";
    text.remove_prefix(text.starts_with(kMark) ? kMark.size() : 0);
    if (!simdjson::validate_utf8(text)) {
      error("encoding", 0, "is not UTF-8");
      return std::move(file_);
    }
    for (const Entry& entry : entries_of(text)) {
      if (!trimmed(entry.text).empty()) {
        read(entry);
      }
    }
    if (file_.errors.empty() && file_.topology.empty()) {
      error("empty", 0, "describes no switch; write SwitchName=leaf1 Nodes=node[01-16]");
    }
    require_children_that_exist();
    find_levels();
    std::ranges::stable_sort(file_.errors, {}, &Problem::line);
    return std::move(file_);
  }

 private:
  void read(const Entry& entry) {
    line_ = entry.line;
    Switch found;
    std::string speed;
    bool good = true;
    for (const auto& [key, value] : pairs_of(entry.text)) {
      const std::string name = in_lower_case(key);
      if (name == "switchname") {
        found.name = value;
      } else if (name == "nodes") {
        good = expand(value, found.nodes) && good;
      } else if (name == "switches") {
        good = expand(value, found.switches) && good;
      } else if (name == "linkspeed") {
        speed = value;
      } else {
        good = false;
        error("unknown_key", line_,
              fmt::format("\"{}\" is none of SwitchName, Nodes, Switches, LinkSpeed{}",
                          key.substr(0, kShown),
                          name.starts_with("block") ? "; only trees of switches are read" : ""));
      }
    }
    if (found.name.empty()) {
      error("no_switch_name", line_, "the line has no SwitchName=NAME");
    } else if (is_new(found, good) && good) {
      add(std::move(found), std::move(speed));
    }
  }

  static std::vector<std::pair<std::string, std::string>> pairs_of(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r";
    std::vector<std::pair<std::string, std::string>> pairs;
    for (auto begin = text.find_first_not_of(kBlanks); begin != std::string_view::npos;) {
      const std::size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
      const std::string_view word = text.substr(begin, end - begin);
      const auto equals = std::min(word.find('='), word.size());
      pairs.emplace_back(word.substr(0, equals), word.substr(std::min(equals + 1, word.size())));
      begin = text.find_first_not_of(kBlanks, end);
    }
    return pairs;
  }

  bool expand(const std::string& list, std::vector<std::string>& names) {
    try {
      std::vector<std::string> more = expand_node_list(list);
      total_ += more.size();
      if (total_ > kMostOfAll) {
        throw NodeListError(true, fmt::format("more than {} names in this file", kMostOfAll));
      }
      std::ranges::move(more, std::back_inserter(names));
    } catch (const NodeListError& wrong) {
      error(wrong.too_many ? "too_many" : "bad_nodelist", line_, wrong.what());
      return false;
    }
    return true;
  }

  // Also of one whose line has an error, for others to hang on.
  bool is_new(const Switch& found, bool good) {
    if (found.name.size() > kLongestName) {
      error("no_switch_name", line_, too_long("SwitchName", found.name));
      return false;
    }
    const auto [place, added] = lines_.try_emplace(found.name, line_);
    if (!added) {
      error("duplicate_switch", line_,
            fmt::format("switch {} is described on line {}, too", found.name, place->second));
    } else if (good && found.nodes.empty() && found.switches.empty()) {
      error("no_children", line_,
            fmt::format("switch {} has neither Nodes nor Switches", found.name));
      return false;
    }
    return added;
  }

  void add(Switch found, std::string speed) {
    std::vector<std::string> nodes;
    for (std::string& node : found.nodes) {
      const auto [place, added] = leaf_of_.try_emplace(node, found.name);
      if (added) {
        nodes.push_back(std::move(node));
      } else if (place->second != found.name) {
        error("node_in_two_switches", line_,
              fmt::format("node {} hangs on {} and on {}", node, place->second, found.name));
      }
    }
    found.nodes = std::move(nodes);
    std::ranges::sort(found.switches);
    const auto twice = std::ranges::unique(found.switches);
    found.switches.erase(twice.begin(), twice.end());
    if (!speed.empty()) {
      file_.link_speed[found.name] = std::move(speed);
    }
    file_.topology.switches.push_back(std::move(found));
  }

  // A switch that is described with an error is there.
  void require_children_that_exist() {
    for (Switch& one : file_.topology.switches) {
      std::erase_if(one.switches, [&](const std::string& child) {
        if (!lines_.contains(child)) {
          error("undefined_switch", lines_.at(one.name),
                fmt::format("switch {} is below {} and described nowhere", child, one.name));
        }
        return !lines_.contains(child);
      });
    }
  }

  // Switches whose children have all been given a level get theirs, until no more do: those that
  // are left hang in a circle, or on one.
  void find_levels() {
    std::map<std::string, const Switch*> described;
    std::map<std::string, int> open;
    std::map<std::string, std::vector<std::string>> above;
    for (const Switch& one : file_.topology.switches) {
      described[one.name] = &one;
    }
    std::vector<std::string> next;
    for (const auto& [name, one] : described) {
      for (const std::string& child : one->switches) {
        if (described.contains(child)) {
          ++open[name];
          above[child].push_back(name);
        }
      }
      file_.levels[name] = 0;
      if (!open.contains(name)) {
        next.push_back(name);
      }
    }
    for (std::size_t i = 0; i < next.size(); ++i) {
      const int level = file_.levels.at(next[i]);
      for (const std::string& parent : above[next[i]]) {
        file_.levels[parent] = std::max(file_.levels[parent], level + 1);
        if (--open[parent] == 0) {
          next.push_back(parent);
        }
      }
    }
    std::set<std::string> done(next.begin(), next.end());
    report_circle(described, done);
  }

  void report_circle(const std::map<std::string, const Switch*>& described,
                     const std::set<std::string>& done) {
    std::vector<std::string> path;
    std::set<std::string> seen;
    for (const auto& [name, one] : described) {
      if (done.contains(name)) {
        continue;
      }
      // From a switch that is not done there is always a child that is not.
      std::string at = name;
      while (seen.insert(at).second) {
        path.push_back(at);
        const auto child =
            std::ranges::find_if(described.at(at)->switches, [&](const std::string& below) {
              return described.contains(below) && !done.contains(below);
            });
        at = *child;
      }
      path.erase(path.begin(), std::ranges::find(path, at));
      path.push_back(at);
      error("cycle", lines_.at(at),
            fmt::format("switches hang on each other in a circle: {}", fmt::join(path, " > ")));
      return;
    }
  }

  void error(std::string kind, int line, std::string message) {
    if (file_.errors.size() < Problems::kMostKept) {
      file_.errors.push_back({std::move(kind), source_.name, line, std::move(message)});
    }
  }

  const SourceText& source_;
  int line_ = 0;
  std::size_t total_ = 0;
  std::map<std::string, int> lines_;            // by switch
  std::map<std::string, std::string> leaf_of_;  // by node
  TopologyFile file_;
};

}  // namespace

TopologyFile read_topology(const SourceText& source) { return Reader(source).result(); }

}  // namespace fleetbench::record
