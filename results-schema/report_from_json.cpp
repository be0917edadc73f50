// report_from_json(): report.json → a report.
#include "results-schema/fields.hpp"
#include "results-schema/report.hpp"

namespace fleetbench {
namespace {

Subject read_subject(const Fields& fields) {
  Subject subject;
  subject.kind = fields.text("kind");
  subject.node = fields.text_or_empty("node");
  subject.device = fields.text_or_empty("device");
  subject.a = fields.text_or_empty("a");
  subject.b = fields.text_or_empty("b");
  subject.directed = fields.has("directed") && fields.boolean("directed");
  subject.rail = fields.text_or_empty("rail");
  subject.switch_name = fields.text_or_empty("switch");
  if (fields.has("nodes")) {
    subject.nodes = fields.texts("nodes");
  }
  return subject;
}

MetricEvidence read_metric(const Fields& fields) {
  return {fields.text("metric"), fields.text("unit"), fields.number("value"),
          fields.number("median"), fields.number("slowdown_pct")};
}

Evidence read_evidence(const Fields& fields) {
  Evidence evidence{fields.text("text"), fields.text("source")};
  if (fields.has("reading")) {
    const Fields reading = fields.object("reading");
    evidence.reading = ReadingEvidence{reading.text("what"), reading.number("value"), std::nullopt,
                                       reading.text("unit")};
    if (reading.has("others")) {
      evidence.reading->others = reading.number("others");
    }
  }
  return evidence;
}

Counts read_counts(const Fields& fields) {
  return {fields.integer("slow_touching"), fields.integer("touching"),
          fields.integer("slow_others"), fields.integer("others")};
}

Blocks read_blocks(const Fields& fields) {
  Blocks blocks{fields.text("metric"),
                fields.text("unit"),
                {},
                fields.number("within"),
                fields.number("across")};
  for (const Json& block : fields.array("nodes")) {
    blocks.nodes.push_back(Fields(Json{{"nodes", block}}, fields.path("nodes")).texts("nodes"));
  }
  return blocks;
}

Finding read_finding(const Fields& fields) {
  Finding finding;
  finding.rank = fields.integer("rank", 1);
  finding.subject = read_subject(fields.object("subject"));
  finding.direction = fields.parsed("direction", parse_direction);
  finding.status = fields.parsed("status", parse_finding_status);
  finding.layer = fields.parsed("layer", parse_layer);
  finding.slowdown_pct = fields.number("slowdown_pct");
  const Json& interval = fields.array("ci_pct");
  fields.require(interval.size() == 2 && interval[0].is_number() && interval[1].is_number(),
                 "ci_pct", "an array of two numbers");
  finding.ci_low_pct = interval[0].get<double>();
  finding.ci_high_pct = interval[1].get<double>();
  finding.p_value = fields.number_from_zero("p_value");
  finding.metrics = fields.each("metrics", read_metric);
  finding.evidence = fields.each("evidence", read_evidence);
  if (fields.has("counts")) {
    finding.counts = read_counts(fields.object("counts"));
  }
  finding.explained_by = fields.integer_if_any("explained_by");
  if (fields.has("explained_by_covariates")) {
    finding.explained_by_covariates = fields.texts("explained_by_covariates");
  }
  finding.cause = fields.text_or_empty("cause");
  finding.next_check = fields.text("next_check");
  return finding;
}

MetricSummary read_summary(const Fields& fields) {
  MetricSummary summary;
  summary.metric = fields.text("metric");
  summary.unit = fields.text("unit");
  summary.layer = fields.parsed("layer", parse_layer);
  summary.subject = fields.parsed("subject", parse_subject_kind);
  summary.subjects = fields.integer("subjects");
  summary.median = fields.number("median");
  summary.lowest = fields.number("lowest");
  summary.highest = fields.number("highest");
  summary.judged = !fields.has("judged") || fields.boolean("judged");
  summary.usable = !fields.has("usable") || fields.boolean("usable");
  summary.spread_pct = fields.number_from_zero("spread_pct");
  summary.within_pct = fields.number_from_zero("within_pct");
  if (fields.has("smallest_visible_pct")) {
    summary.smallest_visible_pct = fields.number_from_zero("smallest_visible_pct");
  }
  return summary;
}

NotMeasured read_not_measured(const Fields& fields) {
  return {fields.text("what"), fields.text("reason")};
}

std::optional<TimeShares> read_time(const Fields& report) {
  if (!report.has("time")) {
    return std::nullopt;
  }
  const Fields fields = report.object("time");
  return TimeShares{fields.number_from_zero("wall_s"), fields.number_from_zero("preparation_s"),
                    fields.number_from_zero("measurement_s")};
}

std::optional<WaitingCost> read_waiting(const Fields& report) {
  if (!report.has("waiting")) {
    return std::nullopt;
  }
  const Fields fields = report.object("waiting");
  return WaitingCost{fields.integer("ranks"), fields.number_from_zero("max_core_share"),
                     fields.number_from_zero("max_resident_bytes")};
}

std::map<std::string, int> read_gpus(const Fields& fleet) {
  std::map<std::string, int> gpus;
  if (fleet.has("gpus")) {
    const Fields fields = fleet.object("gpus");
    for (const auto& [model, count] : fleet.at("gpus").items()) {
      gpus[model] = fields.integer(model, 1);
    }
  }
  return gpus;
}

}  // namespace

Report report_from_json(const Json& json) {
  const Fields fields(json, "");
  fields.require(fields.text("schema").starts_with(kReportMajor), "schema",
                 std::string(kReportMajor) + "…, which this build reads");
  Report report;
  report.run_id = fields.text("run_id");
  report.suite = fields.text("suite");
  report.verdict = fields.parsed("verdict", parse_verdict);
  report.verdict_reasons = fields.texts("verdict_reasons");
  report.findings = fields.each("findings", read_finding);
  report.configuration = fields.each("configuration", read_evidence);
  report.metrics = fields.each("metrics", read_summary);
  report.not_measured = fields.each("not_measured", read_not_measured);
  if (fields.has("blocks")) {
    report.blocks = fields.each("blocks", read_blocks);
  }
  report.notes = fields.texts("notes");
  const Fields fleet = fields.object("fleet");
  report.nodes = fleet.integer("nodes");
  report.ranks = fleet.integer("ranks");
  report.gpus = read_gpus(fleet);
  report.lost_nodes = fleet.texts("lost");
  report.time = read_time(fields);
  report.waiting = read_waiting(fields);
  return report;
}

}  // namespace fleetbench
