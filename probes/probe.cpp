#include "probes/probe.hpp"

#include <fmt/format.h>

#include <cmath>

namespace fleetbench {

std::string_view to_string(Participants participants) {
  switch (participants) {
    case Participants::node:
      return "node";
    case Participants::pair:
      return "pair";
    case Participants::group:
      return "group";
  }
  throw std::logic_error("participants without a name");
}

Participants parse_participants(std::string_view text) {
  for (const auto value : {Participants::node, Participants::pair, Participants::group}) {
    if (text == to_string(value)) {
      return value;
    }
  }
  throw std::invalid_argument(
      fmt::format("participants \"{}\" is none of node, pair, group", text));
}

Status status_of(const std::exception& error) {
  if (dynamic_cast<const WrongResult*>(&error) != nullptr) {
    return Status::wrong;
  }
  if (dynamic_cast<const NotAvailable*>(&error) != nullptr) {
    return Status::skipped;
  }
  return dynamic_cast<const TimedOut*>(&error) != nullptr ? Status::timeout : Status::failed;
}

Json detail_of(const std::exception& error) {
  const auto* known = dynamic_cast<const NoMeasurement*>(&error);
  return known == nullptr ? Json() : known->detail;
}

void check_values(const Measurement& measurement) {
  for (std::size_t i = 0; i < measurement.values.size(); ++i) {
    const auto& value = measurement.values[i];
    if (value && !std::isfinite(*value)) {
      throw std::runtime_error(fmt::format("value {} of the measurement is {}", i, *value));
    }
  }
}

void to_json(Json& json, const ProbeInfo& info) {
  json = Json{{"name", info.name},
              {"summary", info.summary},
              {"layer", to_string(info.layer)},
              {"participants", to_string(info.participants)},
              {"params_schema", info.params_schema},
              {"facts_only", info.facts_only},
              {"all_gpus", info.all_gpus},
              {"joins_workers", info.joins_workers},
              {"method", info.method},
              {"programs", info.programs}};
}

void from_json(const Json& json, ProbeInfo& info) {
  info.name = json.at("name").get<std::string>();
  info.summary = json.at("summary").get<std::string>();
  info.layer = parse_layer(json.at("layer").get<std::string>());
  info.participants = parse_participants(json.at("participants").get<std::string>());
  info.params_schema = json.at("params_schema");
  info.facts_only = json.at("facts_only").get<bool>();
  info.all_gpus = json.at("all_gpus").get<bool>();
  info.joins_workers = json.at("joins_workers").get<bool>();
  info.method = json.at("method").get<int>();
  info.programs = json.at("programs").get<std::vector<std::string>>();
}

}  // namespace fleetbench
