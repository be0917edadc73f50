#include "results-schema/scenario.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "results-schema/check.hpp"

namespace fleetbench {
namespace {

Pairs parse_pairs(const std::string& text) {
  return text == "matchings" ? Pairs::matchings : Pairs::all_pairs;
}

Devices parse_devices(const std::string& text) {
  return text == "one" ? Devices::one : text == "both" ? Devices::both : Devices::all;
}

Across parse_across(const std::string& text) {
  return text == "node" ? Across::node : text == "rails" ? Across::rails : Across::nodes;
}

ScenarioStep step_from_json(const Json& json) {
  ScenarioStep step;
  step.probe = json.at("probe").get<std::string>();
  step.id = json.value("id", step.probe);
  step.params = json.value("params", Json::object());
  step.schedule = parse_schedule(json.value("schedule", "together"));
  step.devices = parse_devices(json.value("devices", "all"));
  step.pairs = parse_pairs(json.value("pairs", "all_pairs"));
  step.matchings = json.value("matchings", step.matchings);
  if (json.contains("across")) {
    step.across = parse_across(json.at("across").get<std::string>());
  }
  step.cross_rails = json.value("cross_rails", step.cross_rails);
  if (json.contains("groups")) {
    const Json& groups = json.at("groups");
    step.groups = Groups{};
    step.groups->size = groups.value("size", step.groups->size);
    step.groups->rounds = groups.value("rounds", step.groups->rounds);
  }
  if (json.contains("passes")) {
    step.passes = json.at("passes").get<int>();
  }
  step.operations = json.value("operations", step.operations);
  step.limit_s = json.value("limit_s", step.limit_s);
  return step;
}

// Far more than a scenario needs. Where a schema asks for items that differ, each is compared with
// each.
constexpr std::size_t kMostItems = 4096;
constexpr std::size_t kLongestText = 131072;  // a program's argument may have as much
constexpr std::size_t kMostFaults = 20;

// What would take long to check against a schema, and is no scenario anyway.
class SizeCheck {
 public:
  explicit SizeCheck(std::vector<std::string>& faults) : faults_(faults) {}

  void check(const Json& json) {
    if (json.is_structured() && json.size() > kMostItems) {
      complain("items", json.size(), kMostItems);
      return;
    }
    if (json.is_string()) {
      require("bytes", json.get_ref<const std::string&>().size(), kLongestText);
    } else if (json.is_array()) {
      for (std::size_t i = 0; i < json.size(); ++i) {
        check_part(json[i], fmt::format("[{}]", i));
      }
    } else if (json.is_object()) {
      for (const auto& [key, value] : json.items()) {
        require("bytes in the name of a key", key.size(), kLongestName);
        check_part(value, "." + key.substr(0, kLongestName));
      }
    }
  }

 private:
  void check_part(const Json& part, std::string name) {
    path_.push_back(std::move(name));
    check(part);
    path_.pop_back();
  }

  void require(const char* what, std::size_t count, std::size_t most) {
    if (count > most) {
      complain(what, count, most);
    }
  }

  // More than are told are not kept.
  void complain(const char* what, std::size_t count, std::size_t most) {
    if (faults_.size() <= kMostFaults) {
      const std::string path = fmt::format("{}", fmt::join(path_, ""));
      faults_.push_back(fmt::format("{}{}has {} {}; at most {} are read",
                                    path.starts_with('.') ? path.substr(1) : path,
                                    path.empty() ? "" : ": ", count, what, most));
    }
  }

  std::vector<std::string>& faults_;
  std::vector<std::string> path_;
};

// What a schema cannot say.
std::vector<std::string> check_meaning(const Json& json) {
  std::vector<std::string> faults;
  std::set<std::string> ids;
  int index = 0;
  for (const auto& step : json.at("steps")) {
    const auto id = step.value("id", step.at("probe").get<std::string>());
    if (!ids.insert(id).second) {
      faults.push_back(fmt::format(
          "steps[{}].id: \"{}\" is used twice; give each step an id of its own", index, id));
    }
    if (step.contains("matchings") && step.value("pairs", "") != "matchings") {
      faults.push_back(fmt::format(
          "steps[{}].matchings: has no meaning without \"pairs\": \"matchings\"", index));
    }
    if (step.contains("operations") && step.value("schedule", "") != "ramp") {
      faults.push_back(fmt::format(
          "steps[{}].operations: has no meaning without \"schedule\": \"ramp\"", index));
    }
    if (step.contains("passes") && step.at("passes") > json.value("passes", Scenario{}.passes)) {
      faults.push_back(fmt::format("steps[{}].passes: {} is more than the scenario's {}", index,
                                   step.at("passes").dump(),
                                   json.value("passes", Scenario{}.passes)));
    }
    ++index;
  }
  return faults;
}

}  // namespace

std::string_view to_string(Schedule schedule) {
  switch (schedule) {
    case Schedule::together:
      return "together";
    case Schedule::alone:
      return "alone";
    case Schedule::both:
      return "both";
    case Schedule::ramp:
      return "ramp";
  }
  throw std::logic_error("a schedule without a name");
}

bool loads_what_is_shared(const ScenarioStep& step) {
  const auto found = step.params.find("shared");
  return found != step.params.end() && *found == Json(true);
}

std::string_view to_string(Pairs pairs) {
  return pairs == Pairs::matchings ? "matchings" : "all_pairs";
}

std::string_view to_string(Across across) {
  return across == Across::node ? "node" : across == Across::rails ? "rails" : "nodes";
}

Schedule parse_schedule(std::string_view text) {
  for (const Schedule schedule :
       {Schedule::together, Schedule::alone, Schedule::both, Schedule::ramp}) {
    if (text == to_string(schedule)) {
      return schedule;
    }
  }
  throw InputError(fmt::format("schedule \"{}\" is none of together, alone, both, ramp", text));
}

Json to_json(const Scenario& scenario) {
  Json steps = Json::array();
  for (const auto& step : scenario.steps) {
    Json json{{"id", step.id},
              {"probe", step.probe},
              {"params", step.params},
              {"schedule", to_string(step.schedule)},
              {"limit_s", step.limit_s}};
    if (step.passes) {
      json["passes"] = *step.passes;
    }
    if (step.devices != Devices::all) {
      json["devices"] = step.devices == Devices::one ? "one" : "both";
    }
    if (step.schedule == Schedule::ramp) {
      json["operations"] = step.operations;
    }
    if (step.pairs == Pairs::matchings) {
      json["pairs"] = "matchings";
      json["matchings"] = step.matchings;
    }
    if (step.across) {
      json["across"] = to_string(*step.across);
    }
    if (step.cross_rails > 0) {
      json["cross_rails"] = step.cross_rails;
    }
    if (step.groups) {
      json["groups"] = {{"size", step.groups->size}, {"rounds", step.groups->rounds}};
    }
    steps.push_back(std::move(json));
  }
  return Json{{"schema", kScenarioSchema},
              {"name", scenario.name},
              {"description", scenario.description},
              {"passes", scenario.passes},
              {"steps", std::move(steps)}};
}

Scenario parse_scenario(const std::string& text, const std::string& source) {
  const Json json = parse_json(text, source);
  std::vector<std::string> faults;
  SizeCheck(faults).check(json);
  if (faults.empty()) {
    faults = check_against(json, schema_named("scenario"));
  }
  if (faults.empty()) {
    faults = check_meaning(json);
  }
  if (faults.size() > kMostFaults) {
    const std::size_t more = faults.size() - kMostFaults;
    faults.resize(kMostFaults);
    faults.push_back(fmt::format("and {} more faults", more));
  }
  if (!faults.empty()) {
    throw InputError(fmt::format("{}: {}", source, fmt::join(faults, "\n" + source + ": ")));
  }
  Scenario scenario;
  scenario.name = json.at("name").get<std::string>();
  scenario.description = json.value("description", "");
  scenario.passes = json.value("passes", scenario.passes);
  for (const auto& step : json.at("steps")) {
    scenario.steps.push_back(step_from_json(step));
  }
  return scenario;
}

}  // namespace fleetbench
