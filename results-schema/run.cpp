#include "results-schema/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "results-schema/fields.hpp"

namespace fleetbench {
namespace {

void put_if_any(Json& json, const char* key, const std::string& text) {
  if (!text.empty()) {
    json[key] = text;
  }
}

Json json_of(const std::vector<End>& ends) {
  Json json = Json::array();
  for (const End& end : ends) {
    json.push_back({end.node, end.device});
  }
  return json;
}

Json json_of(const Switch& described) {
  return {{"name", described.name}, {"nodes", described.nodes}, {"switches", described.switches}};
}

Json json_of(const StepRecord& step) {
  return {{"t", "step"},
          {"step", step.step},
          {"id", step.id},
          {"probe", step.probe},
          {"method", step.method},
          {"concurrent", step.concurrent},
          {"sampled", step.sampled},
          {"of_group", step.of_group},
          {"params", step.params},
          {"work", step.work},
          {"metrics", step.metrics}};
}

Json json_of(const SampleRecord& sample) {
  Json json{{"t", "sample"},
            {"slot", sample.slot},
            {"step", sample.step},
            {"pass", sample.pass},
            {"node", sample.node},
            {"status", to_string(sample.status)},
            {"values", values_to_json(sample.values)},
            {"start_s", sample.start_s},
            {"prepare_s", sample.prepare_s},
            {"measure_s", sample.measure_s}};
  if (sample.peer) {
    json["peer"] = *sample.peer;
  }
  if (!sample.group.empty()) {
    json["group"] = sample.group;
  }
  if (!sample.ends.empty()) {
    json["ends"] = json_of(sample.ends);
  }
  put_if_any(json, "device", sample.device);
  if (sample.confirms) {
    json["confirms"] = *sample.confirms;
  }
  put_if_any(json, "reason", sample.reason);
  if (!sample.detail.is_null()) {
    json["detail"] = sample.detail;
  }
  return json;
}

Json json_of(const LossRecord& loss) {
  Json json{{"t", "loss"},
            {"node", loss.node},
            {"step", loss.step},
            {"phase", loss.phase},
            {"reason", loss.reason}};
  if (loss.rank) {
    json["rank"] = *loss.rank;
  }
  if (loss.slot) {
    json["slot"] = *loss.slot;
  }
  return json;
}

Json json_of(const OmissionRecord& omission) {
  Json json{{"t", "omission"}, {"step", omission.step}, {"reason", omission.reason}};
  if (omission.node) {
    json["node"] = *omission.node;
  }
  return json;
}

Json json_of(const Comparison& compared) {
  Json json{
      {"node", compared.node}, {"reference", compared.reference}, {"metric", compared.metric}};
  if (compared.peer) {
    json["peer"] = *compared.peer;
  }
  if (compared.reference_peer) {
    json["reference_peer"] = *compared.reference_peer;
  }
  put_if_any(json, "device", compared.device);
  return json;
}

Json json_of(const ConfirmRecord& record) {
  Json compared = Json::array();
  for (const Comparison& comparison : record.compared) {
    compared.push_back(json_of(comparison));
  }
  Json json{{"t", "confirm"},
            {"confirm", record.confirm},
            {"step", record.step},
            {"pairs", record.pairs},
            {"compared", std::move(compared)}};
  put_if_any(json, "reason", record.reason);
  if (record.solo) {
    json["solo"] = true;
  }
  return json;
}

Json json_of(const ResumeRecord& resume) {
  return {{"t", "resume"}, {"created", resume.created}, {"start_s", resume.start_s}};
}

Json json_of(const EndRecord& end) {
  return {{"t", "end"},
          {"interrupted", end.interrupted},
          {"reason", end.reason},
          {"time",
           {{"wall_s", end.time.wall_s},
            {"preparation_s", end.time.preparation_s},
            {"measurement_s", end.time.measurement_s}}},
          {"waiting",
           {{"ranks", end.waiting.ranks},
            {"max_core_share", end.waiting.max_core_share},
            {"max_resident_bytes", end.waiting.max_resident_bytes}}}};
}

MetricInfo read_metric(const Fields& fields) {
  MetricInfo metric;
  metric.name = fields.text("name");
  metric.unit = fields.text("unit");
  metric.better = fields.parsed("better", parse_better);
  metric.layer = fields.parsed("layer", parse_layer);
  metric.subject = fields.parsed("subject", parse_subject_kind);
  metric.symmetric = fields.has("symmetric") && fields.boolean("symmetric");
  metric.judged = !fields.has("judged") || fields.boolean("judged");
  metric.covariate = fields.has("covariate") && fields.boolean("covariate");
  metric.free_of_host = fields.has("free_of_host") && fields.boolean("free_of_host");
  metric.description = fields.text_or_empty("description");
  metric.next_check = fields.text_or_empty("next_check");
  return metric;
}

StepRecord read_step(const Fields& fields) {
  StepRecord step;
  step.step = fields.integer("step");
  step.id = fields.text("id");
  step.probe = fields.text("probe");
  step.method = fields.has("method") ? fields.integer("method", 1) : 1;
  step.concurrent = fields.boolean("concurrent");
  step.sampled = fields.has("sampled") && fields.boolean("sampled");
  step.of_group = fields.has("of_group") && fields.boolean("of_group");
  step.params = fields.at("params");
  step.work = fields.at("work");
  step.metrics = fields.each("metrics", read_metric);
  return step;
}

std::vector<std::optional<double>> read_values(const Fields& fields) {
  std::vector<std::optional<double>> values;
  for (const Json& value : fields.array("values")) {
    fields.require(value.is_number() || value.is_null(), "values", "an array of numbers and nulls");
    values.push_back(value.is_null() ? std::nullopt : std::optional(value.get<double>()));
  }
  return values;
}

// Which nodes there are is for add_record() to know.
std::vector<int> read_group(const Fields& fields) {
  std::vector<int> group;
  if (!fields.has("group")) {
    return group;
  }
  for (const Json& node : fields.array("group")) {
    const bool whole =
        node.is_number_integer() && node >= 0 && node <= std::numeric_limits<int>::max();
    fields.require(whole, "group", "an array of whole numbers from 0");
    group.push_back(node.get<int>());
  }
  return group;
}

std::vector<End> read_ends(const Fields& fields) {
  std::vector<End> ends;
  if (!fields.has("ends")) {
    return ends;
  }
  for (const Json& end : fields.array("ends")) {
    const bool whole = end.is_array() && end.size() == 2 && end[0].is_number_integer() &&
                       end[0] >= 0 && end[0] <= std::numeric_limits<int>::max() &&
                       end[1].is_string();
    fields.require(whole, "ends", "an array of [whole number from 0, text]");
    ends.push_back({end[0].get<int>(), end[1].get<std::string>()});
  }
  return ends;
}

SampleRecord read_sample(const Fields& fields) {
  SampleRecord sample;
  sample.slot = fields.integer("slot");
  sample.step = fields.integer("step");
  sample.pass = fields.integer("pass");
  sample.node = fields.integer("node");
  sample.peer = fields.integer_if_any("peer");
  sample.device = fields.text_or_empty("device");
  sample.confirms = fields.integer_if_any("confirms");
  sample.group = read_group(fields);
  sample.ends = read_ends(fields);
  sample.status = fields.parsed("status", parse_status);
  sample.reason = fields.text_or_empty("reason");
  sample.values = read_values(fields);
  sample.start_s = fields.number_from_zero("start_s");
  sample.prepare_s = fields.number_from_zero("prepare_s");
  sample.measure_s = fields.number_from_zero("measure_s");
  sample.detail = fields.has("detail") ? fields.at("detail") : Json();
  return sample;
}

LossRecord read_loss(const Fields& fields) {
  return {fields.integer_if_any("rank"), fields.integer("node"), fields.integer_if_any("slot"),
          fields.text("step"),           fields.text("phase"),   fields.text("reason")};
}

OmissionRecord read_omission(const Fields& fields) {
  return {fields.text("step"), fields.integer_if_any("node"), fields.text("reason")};
}

Comparison read_comparison(const Fields& fields) {
  return {fields.integer("node"),
          fields.integer_if_any("peer"),
          fields.text_or_empty("device"),
          fields.integer("reference"),
          fields.integer_if_any("reference_peer"),
          fields.text("metric")};
}

ConfirmRecord read_confirm(const Fields& fields) {
  return {fields.integer("confirm"),      fields.integer("step"),
          fields.integer("pairs"),        fields.each("compared", read_comparison),
          fields.text_or_empty("reason"), fields.has("solo") && fields.boolean("solo")};
}

ResumeRecord read_resume(const Fields& fields) {
  return {fields.text("created"), fields.number_from_zero("start_s")};
}

EndRecord read_end(const Fields& fields) {
  EndRecord end;
  end.interrupted = fields.boolean("interrupted");
  end.reason = fields.text("reason");
  const Fields time = fields.object("time");
  end.time = {time.number_from_zero("wall_s"), time.number_from_zero("preparation_s"),
              time.number_from_zero("measurement_s")};
  const Fields waiting = fields.object("waiting");
  end.waiting = {waiting.integer("ranks"), waiting.number_from_zero("max_core_share"),
                 waiting.number_from_zero("max_resident_bytes")};
  return end;
}

Switch read_switch(const Fields& fields) {
  return {fields.name("name"), fields.texts("nodes"), fields.texts("switches")};
}

NodeInfo read_node(const Fields& fields) {
  NodeInfo node;
  node.name = fields.name("name");
  node.boot_id = fields.text("boot_id");
  for (const Json& rank : fields.array("ranks")) {
    fields.require(rank.is_number_integer() && rank >= 0 && rank <= std::numeric_limits<int>::max(),
                   "ranks", "an array of whole numbers from 0");
    node.ranks.push_back(rank.get<int>());
  }
  node.inventory = fields.has("inventory") ? fields.at("inventory") : Json();
  node.cohort = fields.has("cohort") ? fields.name("cohort", kLongestKey) : "";
  return node;
}

}  // namespace

Json to_json(const NodeInfo& node) {
  Json json{{"name", node.name},
            {"boot_id", node.boot_id},
            {"ranks", node.ranks},
            {"inventory", node.inventory.json()}};
  put_if_any(json, "cohort", node.cohort);
  return json;
}

Json to_json(const RunHeader& header) {
  Json nodes = Json::array();
  for (const NodeInfo& node : header.nodes) {
    nodes.push_back(to_json(node));
  }
  Json json{
      {"schema", kRunSchema},        {"journal_schema", kJournalSchema}, {"run_id", header.run_id},
      {"created", header.created},   {"version", header.version},        {"build", header.build},
      {"suite", header.suite},       {"arguments", header.arguments},    {"seed", header.seed},
      {"scenario", header.scenario}, {"nodes", std::move(nodes)}};
  for (const Switch& described : header.topology.switches) {
    json["topology"].push_back(json_of(described));
  }
  return json;
}

Json to_json(const Record& record) {
  return std::visit([](const auto& alternative) { return json_of(alternative); }, record);
}

RunHeader run_header_from_json(const Json& json) {
  const Fields fields(json, "");
  fields.require_schema("schema", kRunSchema);
  fields.require_schema("journal_schema", kJournalSchema);
  RunHeader header;
  header.run_id = fields.text("run_id");
  header.created = fields.text("created");
  header.version = fields.text("version");
  header.build = fields.text("build");
  header.suite = fields.text("suite");
  header.arguments = fields.texts("arguments");
  fields.require(fields.at("seed").is_number_unsigned(), "seed", "a whole number from 0");
  header.seed = fields.at("seed").get<std::uint64_t>();
  header.scenario = fields.at("scenario");
  header.nodes = fields.each("nodes", read_node);
  if (fields.has("topology")) {
    header.topology.switches = fields.each("topology", read_switch);
  }
  for (std::size_t i = 0; i < header.nodes.size(); ++i) {
    header.nodes[i].index = static_cast<int>(i);
  }
  return header;
}

Record record_from_json(const Json& json) {
  const Fields fields(json, "");
  const std::string kind = fields.text("t");
  if (kind == "step") {
    return read_step(fields);
  }
  if (kind == "sample") {
    return read_sample(fields);
  }
  if (kind == "loss") {
    return read_loss(fields);
  }
  if (kind == "omission") {
    return read_omission(fields);
  }
  if (kind == "confirm") {
    return read_confirm(fields);
  }
  if (kind == "resume") {
    return read_resume(fields);
  }
  fields.require(kind == "end", "t", "one of step, sample, loss, omission, confirm, resume, end");
  return read_end(fields);
}

}  // namespace fleetbench
