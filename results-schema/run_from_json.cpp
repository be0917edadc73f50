// run_header_from_json() and record_from_json(): run.json and lines of the journal → what they say.
#include <limits>

#include "results-schema/fields.hpp"
#include "results-schema/run.hpp"

namespace fleetbench {
namespace {

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
