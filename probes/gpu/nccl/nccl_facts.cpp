#include "probes/gpu/nccl/nccl_facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cctype>
#include <charconv>

#include "probes/support/collective_params.hpp"

namespace fleetbench::gpu::nccl {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kFunctions{
    {{"AllReduce", "all_reduce"},
     {"AllGather", "all_gather"},
     {"ReduceScatter", "reduce_scatter"},
     {"AlltoAll", "all_to_all"},
     {"Broadcast", "broadcast"},
     {"Reduce", "reduce"}}};

// What stands behind "NCCL INFO "; empty where that is not in the line.
std::string_view message_of(std::string_view line) {
  constexpr std::string_view kMark = "NCCL INFO ";
  const auto at = line.find(kMark);
  return at == std::string_view::npos ? std::string_view() : line.substr(at + kMark.size());
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.remove_suffix(1);
  }
  return text;
}

// The number that ends just before `at`, as in "16 coll channels".
template <typename Number>
std::optional<Number> number_before(std::string_view text, std::string_view words) {
  const auto at = text.find(words);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  auto begin = at;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(text[begin - 1])) != 0) {
    --begin;
  }
  Number number = 0;
  const auto read = std::from_chars(text.data() + begin, text.data() + at, number);
  return read.ec == std::errc() && begin < at ? std::optional(number) : std::nullopt;
}

bool is_device_number(std::string_view part) {
  return !part.empty() && std::isdigit(static_cast<unsigned char>(part.front())) != 0;
}

// "NET/IB/0(3)/GDRDMA/Shared" → "NET/IB/GDRDMA": which device it is differs by nature, and how it
// is shared follows from the place of the rank.
std::string transport_of(std::string_view via) {
  std::string transport;
  via = via.substr(0, via.find(' '));
  while (!via.empty()) {
    const std::string_view part = via.substr(0, via.find('/'));
    via.remove_prefix(std::min(part.size() + 1, via.size()));
    if (!is_device_number(part) && part != "Shared" && !part.empty()) {
      transport += transport.empty() ? "" : "/";
      transport += part;
    }
  }
  return transport;
}

// "AllReduce: 8388608 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..15}"
void add_algorithm(std::string_view message, LogFacts& facts) {
  const auto after = [message](std::string_view words) {
    const auto at = message.find(words);
    const auto rest = at == std::string_view::npos ? "" : message.substr(at + words.size());
    return rest.substr(0, rest.find(' '));
  };
  const auto bytes = number_before<std::size_t>(message, " Bytes -> Algo ");
  const std::string_view algorithm = after("-> Algo ");
  const std::string_view protocol = after(" proto ");
  if (!bytes || algorithm.empty() || protocol.empty()) {
    return;
  }
  for (const auto& [function, name] : kFunctions) {
    if (message.starts_with(function) && message.substr(function.size()).starts_with(": ")) {
      facts.algorithms[std::string(name)][*bytes] = fmt::format("{}/{}", algorithm, protocol);
    }
  }
}

void add_line(std::string_view message, LogFacts& facts) {
  constexpr std::string_view kNetwork = "Using network ";
  if (message.starts_with(kNetwork)) {
    facts.network = message.substr(kNetwork.size());
  } else if (message.find(" coll channels") != std::string_view::npos) {
    facts.collective_channels = number_before<int>(message, " coll channels");
    facts.nvls_channels = number_before<int>(message, " nvls channels");
    facts.p2p_channels = number_before<int>(message, " p2p channels");
  } else if (message.starts_with("Channel ") || message.starts_with("CollNet ")) {
    const auto via = message.find(" via ");
    if (via != std::string_view::npos) {
      facts.transports.insert(transport_of(message.substr(via + 5)));
    }
  } else {
    add_algorithm(message, facts);
  }
}

void set_if_told(Json& json, const char* key, const std::optional<int>& number) {
  if (number) {
    json[key] = *number;
  }
}

}  // namespace

LogFacts log_facts(std::string_view text) {
  LogFacts facts;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    add_line(trimmed(message_of(line)), facts);
  }
  facts.transports.erase("");
  return facts;
}

std::string algorithms_text(const std::map<std::size_t, std::string>& by_bytes,
                            const std::map<std::size_t, std::size_t>& measured) {
  std::vector<std::pair<std::string, std::size_t>> stretches;
  for (const auto& [call_bytes, size] : measured) {
    const auto told = by_bytes.find(call_bytes);
    if (told == by_bytes.end()) {
      continue;
    }
    if (stretches.empty() || stretches.back().first != told->second) {
      stretches.emplace_back(told->second, size);
    }
    stretches.back().second = size;
  }
  std::string text;
  for (const auto& [algorithm, largest] : stretches) {
    text += fmt::format("{}{} to {}", text.empty() ? "" : ", ", algorithm, size_name(largest));
  }
  return text;
}

std::string to_text(const LogFacts& facts, const MeasuredCalls& measured) {
  Json json = Json::object();
  if (!facts.network.empty()) {
    json["network"] = facts.network;
  }
  if (!facts.transports.empty()) {
    json["transports"] = facts.transports;
  }
  set_if_told(json, "collective_channels", facts.collective_channels);
  set_if_told(json, "nvls_channels", facts.nvls_channels);
  set_if_told(json, "p2p_channels", facts.p2p_channels);
  for (const auto& [collective, calls] : measured) {
    const auto told = facts.algorithms.find(collective);
    if (told != facts.algorithms.end()) {
      json["algorithms"][collective] = algorithms_text(told->second, calls);
    }
  }
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

Json node_facts(const std::vector<std::string>& texts) {
  Json all = Json::object();
  std::set<std::string> transports;
  for (const std::string& text : texts) {
    const Json one = Json::parse(text, nullptr, false);
    if (!one.is_object()) {
      continue;
    }
    for (const Json& transport : one.value("transports", Json::array())) {
      transports.insert(transport.get<std::string>());
    }
    for (const auto& [key, value] : one.items()) {
      if (!all.contains(key)) {
        all[key] = value;
      }
    }
  }
  if (!transports.empty()) {
    all["transports"] = fmt::format("{}", fmt::join(transports, ", "));
  }
  return all;
}

}  // namespace fleetbench::gpu::nccl
