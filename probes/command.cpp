// A command of the user's own, such as a training script: what it prints is what is measured.
//
// Each line of its standard output that is a JSON object counts; its numbers with the names that
// `metrics` lists are the samples, of which the median is the value. Other lines are left alone.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <set>

#include "probes/registry.hpp"
#include "probes/support/median.hpp"
#include "probes/support/printable.hpp"
#include "probes/support/program.hpp"
#include "results-schema/check.hpp"

namespace fleetbench {
namespace {

constexpr std::size_t kMostSamples = 1 << 20;  // of one metric; a training step a second for days
constexpr std::size_t kMostNames = 20;         // of those that are printed and not asked for
constexpr const char* kNextCheck =
    "run the same command on a healthy node and compare; then the slow probe of this node in the "
    "layers below (host, storage, input, copy, compute, network): the command is the effect";

MetricInfo metric_of(const Json& wanted, Layer layer) {
  const auto name = wanted.at("name").get<std::string>();
  MetricInfo metric{.name = name, .layer = layer, .subject = SubjectKind::node};
  const bool is_rate = name.ends_with("_per_s");
  const bool is_time = !is_rate && name.ends_with("_s");
  metric.unit = wanted.value("unit", is_rate ? "1/s" : is_time ? "s" : "");
  const auto better = wanted.value("better", is_rate ? "higher" : is_time ? "lower" : "");
  if (metric.unit.empty() || better.empty()) {
    throw std::invalid_argument(
        fmt::format("metric \"{}\": its name does not end in _s or _per_s, so give its \"unit\" "
                    "(\"1\" for none) and its \"better\" (\"higher\" or \"lower\")",
                    name));
  }
  metric.better = parse_better(better);
  metric.judged = wanted.value("judged", true);
  metric.description = fmt::format("\"{}\" as the command printed it, median of its lines", name);
  metric.next_check = kNextCheck;
  return metric;
}

// What the command has printed so far.
class Printed {
 public:
  explicit Printed(const std::vector<MetricInfo>& metrics) {
    for (const MetricInfo& metric : metrics) {
      samples_[metric.name];
    }
  }

  void take(std::string_view line) {
    const Json object = parse_foreign_json(line);
    if (!object.is_object()) {
      ++other_lines_;
      return;
    }
    ++lines_;
    for (const auto& [name, value] : object.items()) {
      if (value.is_number()) {
        take(name, value.get<double>());
      }
    }
  }

  // Throws std::runtime_error where the command never printed it.
  double value(const MetricInfo& metric) const {
    const std::string& name = metric.name;
    const auto& samples = samples_.at(name);
    if (samples.empty()) {
      throw std::runtime_error(fmt::format(
          "the command printed no line with a finite number \"{}\": {} JSON objects with {}, and "
          "{} other lines",
          name, lines_,
          others_.empty() ? "no other numbers" : fmt::format("{}", fmt::join(others_, ", ")),
          other_lines_));
    }
    const double value = median(samples);
    if (metric.judged && !(value > 0)) {
      throw std::runtime_error(fmt::format(
          "the median of \"{}\" is {}: nodes are compared by ratios, so it must be more than 0; "
          "say \"judged\": false for it to be reported only",
          name, value));
    }
    return value;
  }

  Json detail() const {
    Json samples = Json::object();
    for (const auto& [name, values] : samples_) {
      if (!values.empty()) {
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        samples[name] = {{"count", values.size()}, {"min", *least}, {"max", *most}};
      }
    }
    return {{"samples", std::move(samples)}, {"not_asked_for", others_}};
  }

 private:
  void take(const std::string& name, double value) {
    const auto found = samples_.find(name);
    if (found == samples_.end()) {
      if (others_.size() < kMostNames) {
        others_.insert(printable_text(name));
      }
    } else if (std::isfinite(value) && found->second.size() < kMostSamples) {
      found->second.push_back(value);
    }
  }

  std::map<std::string, std::vector<double>> samples_;
  std::set<std::string> others_;
  std::size_t lines_ = 0;
  std::size_t other_lines_ = 0;
};

std::vector<MetricInfo> metrics_of(const Json& params) {
  const Layer layer = parse_layer(params.at("layer").get<std::string>());
  std::vector<MetricInfo> metrics;
  for (const Json& wanted : params.at("metrics")) {
    metrics.push_back(metric_of(wanted, layer));
    for (std::size_t i = 0; i + 1 < metrics.size(); ++i) {
      if (metrics[i].name == metrics.back().name) {
        throw std::invalid_argument(fmt::format("metric \"{}\" is there twice", metrics[i].name));
      }
    }
  }
  return metrics;
}

// So that the nodes of one command can find each other.
std::vector<std::string> environment_of(const Json& work) {
  if (!work.contains("place")) {
    return {};
  }
  const Json& place = work["place"];
  const auto nodes = place.at("nodes").get<std::vector<std::string>>();
  return {fmt::format("FLEETBENCH_NODE_INDEX={}", place.at("index").get<int>()),
          fmt::format("FLEETBENCH_NODE_COUNT={}", nodes.size()),
          fmt::format("FLEETBENCH_NODES={}", fmt::join(nodes, ","))};
}

class PreparedCommand : public Prepared {
 public:
  PreparedCommand(const Json& params, const Json& work)
      : argv_(params.at("argv").get<std::vector<std::string>>()), metrics_(metrics_of(params)) {
    options_.environment = environment_of(work);
    options_.folder = params.at("folder").get<std::string>();
    options_.limit_s = 1e9;  // the slot's limit ends it, and this process with it
    if (!find_program(argv_.at(0), options_.folder)) {
      throw std::runtime_error(
          fmt::format("{}: there is no such program on this node", printable_text(argv_[0])));
    }
  }

  Measurement measure() override {
    Printed printed(metrics_);
    options_.on_line = [&](std::string_view line) { printed.take(line); };
    // Last words, for when the slot's limit ends this process.
    std::cerr << fmt::format("running {}\n",
                             printable_text(fmt::format("{}", fmt::join(argv_, " "))));
    const ProgramEnd end = run_program(argv_, options_);
    if (!end.ok()) {
      throw std::runtime_error(fmt::format("{} {}", printable_text(argv_[0]), end.how()));
    }
    Measurement measurement;
    for (const MetricInfo& metric : metrics_) {
      measurement.values.emplace_back(printed.value(metric));
    }
    measurement.detail = printed.detail();
    measurement.detail["wall_s"] = end.wall_s;
    measurement.detail["cpu_s"] = end.cpu_s;
    return measurement;
  }

 private:
  std::vector<std::string> argv_;
  std::vector<MetricInfo> metrics_;
  ProgramOptions options_;
};

class Command : public Probe {
 public:
  Command(std::string name, std::string summary, Participants participants)
      : name_(std::move(name)), summary_(std::move(summary)), participants_(participants) {}

  ProbeInfo info() const override {
    return {.name = name_,
            .summary = summary_,
            .layer = Layer::step,
            .participants = participants_,
            .params_schema = params_schema()};
  }

  std::vector<MetricInfo> metrics(const Json& params) const override { return metrics_of(params); }

  std::unique_ptr<Prepared> prepare(const Json& params, const Json& work) const override {
    return std::make_unique<PreparedCommand>(params, work);
  }

 private:
  static Json params_schema() {
    return Json::parse(R"({
      "type": "object", "additionalProperties": false,
      "properties": {
        "argv": {
          "description": "the program and its arguments, as they are: no shell reads them",
          "type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1},
          "default": []
        },
        "metrics": {
          "description": "the numbers in its JSON lines that are to be compared: name, and where the name does not end in _s (seconds) or _per_s also unit and better; with judged false it is reported and never ranked, and may be 0 or less",
          "type": "array", "minItems": 1, "maxItems": 64,
          "items": {
            "type": "object", "additionalProperties": false, "required": ["name"],
            "properties": {
              "name": {"type": "string", "minLength": 1, "maxLength": 64},
              "unit": {"type": "string", "minLength": 1, "maxLength": 16},
              "better": {"type": "string", "enum": ["higher", "lower"]},
              "judged": {"type": "boolean"}
            }
          },
          "default": []
        },
        "layer": {
          "description": "the layer that its numbers speak of",
          "type": "string",
          "enum": ["host", "storage", "input", "copy", "compute", "fabric", "network", "step"],
          "default": "step"
        },
        "folder": {
          "description": "where it starts, on each node, a path from /; empty: where fleetbench was started",
          "type": "string", "pattern": "^/|^$", "default": ""
        }
      }
    })");
  }

  std::string name_;
  std::string summary_;
  Participants participants_;
};

}  // namespace

std::unique_ptr<Probe> make_command() {
  return std::make_unique<Command>("command", "a command of yours on each node by itself",
                                   Participants::node);
}

std::unique_ptr<Probe> make_fleet_command() {
  return std::make_unique<Command>(
      "fleet_command", "a command of yours on all nodes at once, told who the others are",
      Participants::group);
}

}  // namespace fleetbench
