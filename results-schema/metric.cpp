#include "results-schema/metric.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <stdexcept>
#include <utility>

namespace fleetbench {
namespace {

template <typename Enum, std::size_t N>
using Names = std::array<std::pair<Enum, std::string_view>, N>;

constexpr Names<Layer, 8> kLayers{{{Layer::host, "host"},
                                   {Layer::storage, "storage"},
                                   {Layer::input, "input"},
                                   {Layer::copy, "copy"},
                                   {Layer::compute, "compute"},
                                   {Layer::fabric, "fabric"},
                                   {Layer::network, "network"},
                                   {Layer::step, "step"}}};
constexpr Names<Better, 2> kBetter{{{Better::lower, "lower"}, {Better::higher, "higher"}}};
constexpr Names<SubjectKind, 4> kSubjects{{{SubjectKind::node, "node"},
                                           {SubjectKind::device, "device"},
                                           {SubjectKind::link, "link"},
                                           {SubjectKind::group, "group"}}};
constexpr Names<Status, 5> kStatuses{{{Status::ok, "ok"},
                                      {Status::failed, "failed"},
                                      {Status::timeout, "timeout"},
                                      {Status::wrong, "wrong"},
                                      {Status::skipped, "skipped"}}};

template <typename Enum, std::size_t N>
std::string_view name_of(Enum value, const Names<Enum, N>& names) {
  for (const auto& [candidate, name] : names) {
    if (candidate == value) {
      return name;
    }
  }
  throw std::logic_error("an enum value without a name");
}

template <typename Enum, std::size_t N>
Enum value_of(std::string_view text, const Names<Enum, N>& names, std::string_view what) {
  std::vector<std::string_view> allowed;
  for (const auto& [value, name] : names) {
    if (name == text) {
      return value;
    }
    allowed.push_back(name);
  }
  throw std::invalid_argument(
      fmt::format("{} \"{}\" is none of {}", what, text, fmt::join(allowed, ", ")));
}

}  // namespace

Json values_to_json(const Values& values) {
  Json json = Json::array();
  for (const auto& value : values) {
    json.push_back(value ? Json(*value) : Json());
  }
  return json;
}

Values values_from_json(const Json& json) {
  Values values;
  for (const auto& value : json) {
    values.push_back(value.is_number() ? std::optional(value.get<double>()) : std::nullopt);
  }
  return values;
}

double default_min_effect(Layer layer) {
  switch (layer) {
    case Layer::compute:
      return 0.02;
    case Layer::host:
    case Layer::copy:
    case Layer::fabric:
    case Layer::step:
      return 0.03;
    case Layer::network:
    case Layer::storage:
    case Layer::input:
      return 0.05;
  }
  throw std::logic_error("a layer without a minimum effect");
}

std::string_view to_string(Layer layer) { return name_of(layer, kLayers); }
std::string_view to_string(Better better) { return name_of(better, kBetter); }
std::string_view to_string(SubjectKind kind) { return name_of(kind, kSubjects); }
std::string_view to_string(Status status) { return name_of(status, kStatuses); }

Layer parse_layer(std::string_view text) { return value_of(text, kLayers, "layer"); }
Better parse_better(std::string_view text) { return value_of(text, kBetter, "better"); }
SubjectKind parse_subject_kind(std::string_view text) {
  return value_of(text, kSubjects, "subject");
}
Status parse_status(std::string_view text) { return value_of(text, kStatuses, "status"); }

const std::vector<Layer>& all_layers() {
  static const std::vector<Layer> layers = [] {
    std::vector<Layer> result;
    for (const auto& [layer, name] : kLayers) {
      result.push_back(layer);
    }
    return result;
  }();
  return layers;
}

void to_json(Json& json, const MetricInfo& metric) {
  json = Json{{"name", metric.name},
              {"unit", metric.unit},
              {"better", to_string(metric.better)},
              {"layer", to_string(metric.layer)},
              {"subject", to_string(metric.subject)},
              {"symmetric", metric.symmetric},
              {"judged", metric.judged},
              {"covariate", metric.covariate},
              {"free_of_host", metric.free_of_host},
              {"description", metric.description},
              {"next_check", metric.next_check}};
}

void from_json(const Json& json, MetricInfo& metric) {
  metric.name = json.at("name").get<std::string>();
  metric.unit = json.at("unit").get<std::string>();
  metric.better = parse_better(json.at("better").get<std::string>());
  metric.layer = parse_layer(json.at("layer").get<std::string>());
  metric.subject = parse_subject_kind(json.at("subject").get<std::string>());
  metric.symmetric = json.value("symmetric", false);
  metric.judged = json.value("judged", true);
  metric.covariate = json.value("covariate", false);
  metric.free_of_host = json.value("free_of_host", false);
  metric.description = json.value("description", "");
  metric.next_check = json.value("next_check", "");
}

}  // namespace fleetbench
