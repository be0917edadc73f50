#include "results-schema/baseline.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <stdexcept>
#include <tuple>

#include "results-schema/check.hpp"
#include "results-schema/fields.hpp"

namespace fleetbench {
namespace {

// FNV-1a, 32 bits: http://www.isthe.com/chongo/tech/comp/fnv
std::uint32_t checksum(const std::string& text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  }
  return hash;
}

// Who writes 4.0 means 4.
Json canonical(const Json& value) {
  constexpr double kExact = 9007199254740992;  // 2^53: whole numbers up to here are exact
  if (value.is_number_float()) {
    const double number = value.get<double>();
    const bool whole = std::trunc(number) == number && std::abs(number) <= kExact;
    return whole ? Json(static_cast<std::int64_t>(number)) : value;
  }
  Json result = value;
  if (value.is_structured()) {
    for (Json& child : result) {
      child = canonical(child);
    }
  }
  return result;
}

Json json_of(const BaselineMetric& metric) {
  return {{"metric", metric.key.metric},
          {"method", metric.key.method},
          {"cohort", metric.cohort},
          {"unit", metric.unit},
          {"better", to_string(metric.better)},
          {"layer", to_string(metric.layer)},
          {"subjects", metric.subjects},
          {"runs", metric.runs},
          {"median", metric.median},
          {"between", metric.between},
          {"within", metric.within},
          {"run_to_run", metric.run_to_run},
          {"degrees", metric.degrees}};
}

Json json_of(const std::vector<BaselineMetric>& metrics) {
  Json array = Json::array();
  for (const BaselineMetric& metric : metrics) {
    array.push_back(json_of(metric));
  }
  return array;
}

// There are many: what they share stands once, the rest is positional.
Json json_of(const std::vector<BaselineSubject>& subjects) {
  std::map<std::tuple<BaselineKey, std::string>, Json> levels;
  for (const BaselineSubject& subject : subjects) {
    levels[{subject.key, subject.cohort}].push_back(
        {subject.node, subject.device, subject.value, subject.runs});
  }
  Json array = Json::array();
  for (auto& [shared, of_shared] : levels) {
    const auto& [key, cohort] = shared;
    array.push_back({{"metric", key.metric},
                     {"method", key.method},
                     {"cohort", cohort},
                     {"levels", std::move(of_shared)}});
  }
  return array;
}

BaselineKey read_key(const Fields& fields) {
  return {fields.name("metric", kLongestKey), fields.name("method", kLongestKey)};
}

BaselineMetric read_metric(const Fields& fields) {
  BaselineMetric metric;
  metric.key = read_key(fields);
  metric.cohort = fields.name("cohort", kLongestKey);
  metric.unit = fields.name("unit");
  metric.better = fields.parsed("better", parse_better);
  metric.layer = fields.parsed("layer", parse_layer);
  metric.subjects = fields.integer("subjects", 1);
  metric.runs = fields.integer("runs", 1);
  metric.median = fields.positive("median");
  metric.between = fields.number_from_zero("between");
  metric.within = fields.number_from_zero("within");
  metric.run_to_run = fields.number_from_zero("run_to_run");
  metric.degrees = fields.number_from_zero("degrees");
  return metric;
}

bool is_level(const Json& level) {
  return level.is_array() && level.size() == 4 && level[0].is_string() && level[1].is_string() &&
         level[2].is_number() && level[2] > 0 && level[3].is_number_integer() && level[3] >= 1 &&
         level[3] <= std::numeric_limits<int>::max();
}

std::vector<BaselineSubject> read_subjects(const Fields& fields) {
  std::vector<BaselineSubject> subjects;
  for (const Json& level : fields.array("levels")) {
    if (!is_level(level)) {
      throw std::invalid_argument(fmt::format(
          "{}[{}] is not [node, device, value over 0, runs from 1]: {}", fields.path("levels"),
          subjects.size(), level.dump(-1, ' ', false, Json::error_handler_t::replace)));
    }
    subjects.push_back({read_key(fields), level[0].get<std::string>(), level[1].get<std::string>(),
                        fields.text("cohort"), level[2].get<double>(), level[3].get<int>()});
  }
  return subjects;
}

std::map<std::string, std::string> read_facts(const Fields& inventory, const std::string& cohort) {
  const Fields fields = inventory.object(cohort);
  std::map<std::string, std::string> facts;
  for (const auto& [path, value] : inventory.at(cohort).items()) {
    facts[path] = fields.text(path);
  }
  return facts;
}

// Of two entries for the same thing nobody could say which one holds.
void require_unique(const Baseline& baseline) {
  std::set<std::tuple<BaselineKey, std::string>> metrics;
  for (const BaselineMetric& metric : baseline.metrics) {
    if (!metrics.emplace(metric.key, metric.cohort).second) {
      throw std::invalid_argument(fmt::format("metrics: {} ({}) of cohort \"{}\" is in it twice",
                                              metric.key.metric, metric.key.method, metric.cohort));
    }
  }
  std::set<std::tuple<BaselineKey, std::string, std::string>> subjects;
  for (const BaselineSubject& subject : baseline.subjects) {
    if (!subjects.emplace(subject.key, subject.node, subject.device).second) {
      throw std::invalid_argument(fmt::format("subjects: {} ({}) of {}{}{} is in it twice",
                                              subject.key.metric, subject.key.method, subject.node,
                                              subject.device.empty() ? "" : " ", subject.device));
    }
  }
}

}  // namespace

std::string method_of(const StepRecord& step) {
  const std::string text =
      canonical(step.params).dump(-1, ' ', false, Json::error_handler_t::replace);
  return fmt::format("{}/{}-{:08x}{}", step.probe, step.method, checksum(text),
                     step.concurrent ? "" : "-alone");
}

BaselineKey key_of(const RunData& run, const StepRecord& step, const MetricInfo& metric) {
  return {metric.name.empty() ? step.id : step.id + "." + metric.name,
          run.imported ? "" : method_of(step)};
}

Json to_json(const Baseline& baseline) {
  return {{"schema", kBaselineSchema},
          {"created", baseline.created},
          {"runs", baseline.runs},
          {"metrics", json_of(baseline.metrics)},
          {"subjects", json_of(baseline.subjects)},
          {"inventory", baseline.inventory}};
}

Baseline baseline_from_json(const Json& json) {
  const Fields fields(json, "");
  fields.require_schema("schema", kBaselineSchema);
  Baseline baseline;
  baseline.created = fields.text("created");
  baseline.runs = fields.texts("runs");
  baseline.metrics = fields.each("metrics", read_metric);
  for (auto& subjects : fields.each("subjects", read_subjects)) {
    baseline.subjects.insert(baseline.subjects.end(), subjects.begin(), subjects.end());
  }
  const Fields inventory = fields.object("inventory");
  for (const auto& [cohort, facts] : fields.at("inventory").items()) {
    baseline.inventory[cohort] = read_facts(inventory, cohort);
  }
  require_unique(baseline);
  return baseline;
}

Baseline parse_baseline(const std::string& text, const std::string& source) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text[first] != '{') {
    throw InputError(fmt::format(
        "{} is no baseline; give a file that `fleetbench baseline build` wrote; to compare with "
        "samples themselves, give --baseline a run directory, a CSV whose header has node, metric "
        "and value, or SuperBench's results-summary.jsonl",
        source));
  }
  const Json json = parse_json(text, source);
  try {
    return baseline_from_json(json);
  } catch (const std::exception& error) {
    throw InputError(fmt::format("{}: {}", source, error.what()));
  }
}

}  // namespace fleetbench
