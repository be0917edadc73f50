#include "results-schema/run.hpp"

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

}  // namespace fleetbench
