#include "harness/gate/hosts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

#include "harness/record/node_list.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::gate {
namespace {

bool is_host_list(const std::string& word) {
  return word == "--host" || word == "-host" || word == "-H";
}

bool is_host_file(const std::string& word) {
  return word == "--hostfile" || word == "-hostfile" || word == "--machinefile" ||
         word == "-machinefile";
}

bool is_count(const std::string& word) {
  return word == "-np" || word == "--np" || word == "-n" || word == "-c";
}

void add_once(Words& hosts, const std::string& host) {
  if (!host.empty() && std::ranges::find(hosts, host) == hosts.end()) {
    hosts.push_back(host);
  }
}

// "node1:2" is host node1 with two slots; an IPv6 address has more than one colon.
std::string without_slots(const std::string& word) {
  const auto colon = word.find(':');
  return colon == word.rfind(':') ? word.substr(0, colon) : word;
}

Words hosts_in_file(const std::string& text) {
  Words hosts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string host;
    if (words >> host) {
      add_once(hosts, without_slots(host));
    }
  }
  return hosts;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

bool has_places(const Words& command) {
  return std::ranges::any_of(
      command, [](const std::string& word) { return word.find("{hosts}") != std::string::npos; });
}

// As many ranks on each host as before.
std::string count_for(const std::string& word, std::size_t all, std::size_t left) {
  std::size_t ranks = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), ranks);
  const bool whole = error == std::errc() && end == word.data() + word.size() && ranks % all == 0;
  return whole ? fmt::format("{}", ranks / all * left) : word;
}

}  // namespace

std::size_t program_position(const Words& command) {
  const auto found = std::ranges::find_if(command, [](const std::string& word) {
    const auto name = word.substr(word.rfind('/') + 1);
    return name == "fleetbench" || name.starts_with("fleetbench-");
  });
  if (found == command.end()) {
    throw InputError(
        "what follows -- has to start fleetbench, as in: fleetbench gate -- mpirun -np 8 "
        "fleetbench "
        "--suite quick");
  }
  return static_cast<std::size_t>(found - command.begin());
}

std::optional<std::string> argument(const Words& command, const std::string& name) {
  for (std::size_t i = program_position(command) + 1; i < command.size(); ++i) {
    if (command[i] == name && i + 1 < command.size()) {
      return command[i + 1];
    }
    if (command[i].starts_with(name + "=")) {
      return command[i].substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

Words expand_hosts(const std::string& list) {
  Words hosts;
  try {
    std::set<std::string> seen;
    for (const auto& host : record::expand_node_list(list)) {
      if (seen.insert(without_slots(host)).second) {
        hosts.push_back(without_slots(host));
      }
    }
  } catch (const record::NodeListError& wrong) {
    throw InputError(wrong.what());
  }
  return hosts;
}

Words hosts_of(const Words& command, const ReadFile& read_file) {
  Words hosts;
  const std::size_t end = program_position(command);
  for (std::size_t i = 0; i + 1 < end; ++i) {
    Words found;
    if (is_host_list(command[i])) {
      found = expand_hosts(command[i + 1]);
    } else if (is_host_file(command[i])) {
      found = hosts_in_file(read_file(command[i + 1]).value_or(""));
    }
    for (const auto& host : found) {
      add_once(hosts, host);
    }
  }
  return hosts;
}

Words with_hosts(const Words& command, const Words& all, const Words& left,
                 const ReadFile& read_file) {
  if (left.empty()) {
    throw InputError("none of the hosts is left to start on");
  }
  const auto list = fmt::format("{}", fmt::join(left, ","));
  const auto count = fmt::format("{}", left.size());
  Words result = command;
  if (has_places(command)) {
    for (auto& word : result) {
      word = replaced(replaced(word, "{hosts}", list), "{count}", count);
    }
    return result;
  }
  if (left.size() == all.size()) {
    return result;
  }
  if (hosts_of(command, read_file).empty()) {
    throw InputError(
        "hosts cannot be left out of this command, for it does not name them: write {hosts} and "
        "{count} in their places and give them by --hosts");
  }
  for (std::size_t i = 0; i + 1 < program_position(command); ++i) {
    if (is_host_list(result[i]) || is_host_file(result[i])) {
      result[i] = "--host";
      result[i + 1] = list;
    } else if (is_count(result[i])) {
      result[i + 1] = count_for(result[i + 1], all.size(), left.size());
    }
  }
  return result;
}

}  // namespace fleetbench::gate
