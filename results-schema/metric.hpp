// What a probe measures, and what became of one attempt to measure it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fleetbench {

using Json = nlohmann::json;

// The part of a machine or fleet that a metric speaks about. Causes form a graph, see
// docs/architecture.md: a slow `host` slows `storage`, `input`, `copy` and TCP `network` too.
enum class Layer { host, storage, input, copy, compute, fabric, network, step };

enum class Better { lower, higher };

// `group` is several nodes measured as one (a collective): it can be slow, but names nobody.
enum class SubjectKind { node, device, link, group };

// `ok`: there are values. `wrong`: the result was computed but is false; never a slow value.
// `skipped`: this machine cannot measure it, for a reason that is nobody's fault.
enum class Status { ok, failed, timeout, wrong, skipped };

struct MetricInfo {
  std::string name;  // unique within a run once the step's id stands before it: "cpu_gemm.fp64"
  std::string unit;  // "FLOP/s", "B/s", "s": SI, no prefixes; prefixes are a matter of printing
  Better better = Better::higher;
  Layer layer = Layer::host;
  SubjectKind subject = SubjectKind::node;
  // A link metric whose value for (a, b) is by nature that of (b, a), as a round trip is.
  bool symmetric = false;
  // False: explains other metrics (a share, one stage of several) and is never ranked by itself.
  // Only then may its values be 0.
  bool judged = true;
  std::string description;
  std::string next_check;  // what a person should look at first when this metric is slow
  // What may explain the judged metrics of the same subject and pass: a clock, a temperature, a
  // power. Then `judged` is false, `better` means nothing.
  bool covariate = false;
  // A slow host does not slow it, as large direct reads: where it is well, what else is slow in its
  // layer on a node with a slow host is the host's.
  bool free_of_host = false;
};

// What one measurement gives: one value per metric, in order; absent where it does not apply.
using Values = std::vector<std::optional<double>>;

// As a JSON array, null for absent. From one: what is no number is absent.
Json values_to_json(const Values& values);
Values values_from_json(const Json& json);

// Smallest slowdown, as a share of time (0.05 is 5 %), that anybody wants to be told of.
double default_min_effect(Layer layer);

std::string_view to_string(Layer layer);
std::string_view to_string(Better better);
std::string_view to_string(SubjectKind kind);
std::string_view to_string(Status status);

// Throw std::invalid_argument naming the text and what is allowed.
Layer parse_layer(std::string_view text);
Better parse_better(std::string_view text);
SubjectKind parse_subject_kind(std::string_view text);
Status parse_status(std::string_view text);

const std::vector<Layer>& all_layers();

void to_json(Json& json, const MetricInfo& metric);
void from_json(const Json& json, MetricInfo& metric);

}  // namespace fleetbench
