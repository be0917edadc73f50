#include "results-schema/report.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

namespace fleetbench {
namespace {

constexpr std::array<std::pair<Verdict, std::string_view>, 4> kVerdicts{
    {{Verdict::pass, "PASS"},
     {Verdict::warn, "WARN"},
     {Verdict::fail, "FAIL"},
     {Verdict::inconclusive, "INCONCLUSIVE"}}};
constexpr std::array<std::pair<Direction, std::string_view>, 4> kDirections{
    {{Direction::slow, "slow"},
     {Direction::fast, "fast"},
     {Direction::wrong, "wrong"},
     {Direction::missing, "missing"}}};
constexpr std::array<std::pair<FindingStatus, std::string_view>, 4> kStatuses{
    {{FindingStatus::suspect, "suspect"},
     {FindingStatus::confirmed, "confirmed"},
     {FindingStatus::tentative, "tentative"},
     {FindingStatus::not_reproduced, "not_reproduced"}}};

// From twice the time on, a ratio is easier to read than per cent.
constexpr double kTimesFrom = 99.5;

template <typename Names, typename Enum>
std::string_view name_of(const Names& names, Enum value) {
  for (const auto& [candidate, name] : names) {
    if (candidate == value) {
      return name;
    }
  }
  throw std::logic_error("an enum value without a name");
}

template <typename Names>
auto value_of(const Names& names, std::string_view text) {
  std::string allowed;
  for (const auto& [value, name] : names) {
    if (name == text) {
      return value;
    }
    allowed += (allowed.empty() ? "" : ", ") + std::string(name);
  }
  throw std::invalid_argument(fmt::format("\"{}\" is none of {}", text, allowed));
}

Json json_of(const Subject& subject) {
  Json json{{"kind", subject.kind}};
  for (const auto& [key, text] :
       {std::pair("node", &subject.node), std::pair("device", &subject.device),
        std::pair("a", &subject.a), std::pair("b", &subject.b), std::pair("rail", &subject.rail),
        std::pair("switch", &subject.switch_name)}) {
    if (!text->empty()) {
      json[key] = *text;
    }
  }
  if (subject.kind == "link") {
    json["directed"] = subject.directed;
  }
  if (!subject.nodes.empty()) {
    json["nodes"] = subject.nodes;
  }
  return json;
}

Json json_of(const MetricEvidence& metric) {
  return {{"metric", metric.metric},
          {"unit", metric.unit},
          {"value", metric.value},
          {"median", metric.median},
          {"slowdown_pct", metric.slowdown_pct}};
}

Json json_of(const Evidence& evidence) {
  Json json{{"text", evidence.text}, {"source", evidence.source}};
  if (const auto& reading = evidence.reading) {
    json["reading"] = {{"what", reading->what},
                       {"value", reading->value},
                       {"others", reading->others ? Json(*reading->others) : Json()},
                       {"unit", reading->unit}};
  }
  return json;
}

Json json_of(const Counts& counts) {
  return {{"slow_touching", counts.slow_touching},
          {"touching", counts.touching},
          {"slow_others", counts.slow_others},
          {"others", counts.others}};
}

Json json_of(const Blocks& blocks) {
  return {{"metric", blocks.metric},
          {"unit", blocks.unit},
          {"nodes", blocks.nodes},
          {"within", blocks.within},
          {"across", blocks.across}};
}

Json json_of(const NotMeasured& item) { return {{"what", item.what}, {"reason", item.reason}}; }

Json json_of(const Finding& finding);
Json json_of(const MetricSummary& summary);

template <typename T>
Json array_of(const std::vector<T>& items) {
  Json json = Json::array();
  for (const T& item : items) {
    json.push_back(json_of(item));
  }
  return json;
}

Json json_of(const Finding& finding) {
  Json json{{"rank", finding.rank},
            {"subject", json_of(finding.subject)},
            {"direction", to_string(finding.direction)},
            {"status", to_string(finding.status)},
            {"layer", to_string(finding.layer)},
            {"slowdown_pct", finding.slowdown_pct},
            {"ci_pct", {finding.ci_low_pct, finding.ci_high_pct}},
            {"p_value", finding.p_value},
            {"metrics", array_of(finding.metrics)},
            {"evidence", array_of(finding.evidence)},
            {"explained_by", finding.explained_by ? Json(*finding.explained_by) : Json()},
            {"explained_by_covariates", finding.explained_by_covariates},
            {"cause", finding.cause},
            {"next_check", finding.next_check}};
  if (finding.counts) {
    json["counts"] = json_of(*finding.counts);
  }
  return json;
}

Json json_of(const MetricSummary& summary) {
  return {{"metric", summary.metric},
          {"unit", summary.unit},
          {"layer", to_string(summary.layer)},
          {"subject", to_string(summary.subject)},
          {"subjects", summary.subjects},
          {"median", summary.median},
          {"lowest", summary.lowest},
          {"highest", summary.highest},
          {"judged", summary.judged},
          {"usable", summary.usable},
          {"spread_pct", summary.spread_pct},
          {"within_pct", summary.within_pct},
          {"smallest_visible_pct",
           summary.smallest_visible_pct ? Json(*summary.smallest_visible_pct) : Json()}};
}

Json json_of(const std::optional<TimeShares>& time) {
  if (!time) {
    return {};
  }
  return {{"wall_s", time->wall_s},
          {"preparation_s", time->preparation_s},
          {"measurement_s", time->measurement_s},
          {"other_s", time->other_s()}};
}

Json json_of(const std::optional<WaitingCost>& waiting) {
  if (!waiting) {
    return {};
  }
  return {{"ranks", waiting->ranks},
          {"max_core_share", waiting->max_core_share},
          {"max_resident_bytes", waiting->max_resident_bytes}};
}

// Which rail a subject is of, or is: " rail gpu3".
std::string rail_text(const Subject& subject) {
  return subject.rail.empty() ? "" : " rail " + subject.rail;
}

std::string describe_rail(const Subject& subject) {
  if (!subject.node.empty()) {
    return subject.node + rail_text(subject);
  }
  return "rail " + subject.rail +
         (subject.nodes.empty() ? "" : fmt::format(" of {} nodes", subject.nodes.size()));
}

}  // namespace

std::string_view to_string(Verdict verdict) { return name_of(kVerdicts, verdict); }
Verdict parse_verdict(std::string_view text) { return value_of(kVerdicts, text); }

int nagios_code(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return 0;
    case Verdict::warn:
      return 1;
    case Verdict::fail:
      return 2;
    case Verdict::inconclusive:
      break;
  }
  return 3;
}
std::string_view to_string(Direction direction) { return name_of(kDirections, direction); }
std::string_view to_string(FindingStatus status) { return name_of(kStatuses, status); }
Direction parse_direction(std::string_view text) { return value_of(kDirections, text); }
FindingStatus parse_finding_status(std::string_view text) { return value_of(kStatuses, text); }

std::string describe(const Subject& subject) {
  if (subject.kind == "node") {
    return subject.node;
  }
  if (subject.kind == "device") {
    return subject.node + " " + subject.device;
  }
  if (subject.kind == "link") {
    return subject.a + (subject.directed ? " -> " : " - ") + subject.b + rail_text(subject);
  }
  if (subject.kind == "rail") {
    return describe_rail(subject);
  }
  if (subject.kind == "switch") {
    return "switch " + subject.switch_name;
  }
  if (subject.kind == "group") {
    return fmt::format("{} nodes", subject.nodes.size());
  }
  return subject.kind == "fleet" ? "the whole fleet" : subject.kind;
}

std::string describe_slowdown(double slowdown_pct, std::string_view peers) {
  const double times = 1 + slowdown_pct / 100;
  const auto with_peers = [peers](std::string text, const char* conjunction) {
    return peers.empty() ? text : fmt::format("{} {} {}", text, conjunction, peers);
  };
  if (slowdown_pct < 0) {
    const double faster = 1 / times;
    return with_peers(fmt::format("{:.{}f} times as fast", faster, faster < 1.95 ? 2 : 1), "as");
  }
  if (slowdown_pct < kTimesFrom) {
    return with_peers(fmt::format("{:.{}f} % slower", slowdown_pct, slowdown_pct < 9.95 ? 1 : 0),
                      "than");
  }
  return with_peers(fmt::format("{:.{}f} times as slow", times, times < 9.95 ? 1 : 0), "as");
}

std::string describe_interval(double slowdown_pct, double low_pct, double high_pct) {
  if (slowdown_pct >= kTimesFrom || slowdown_pct < 0) {
    double low = 1 + low_pct / 100;
    double high = 1 + high_pct / 100;
    if (slowdown_pct < 0) {
      low = 1 / std::exchange(high, 1 / low);
    }
    return fmt::format("[{:.{}f} .. {:.{}f} times]", low, low < 9.95 ? 1 : 0, high,
                       high < 9.95 ? 1 : 0);
  }
  const int digits = slowdown_pct < 9.95 ? 1 : 0;
  return fmt::format("[{:.{}f} .. {:.{}f} %]", low_pct, digits, high_pct, digits);
}

Json to_json(const Report& report) {
  return {{"schema", kReportSchema},
          {"run_id", report.run_id},
          {"suite", report.suite},
          {"verdict", to_string(report.verdict)},
          {"verdict_reasons", report.verdict_reasons},
          {"findings", array_of(report.findings)},
          {"configuration", array_of(report.configuration)},
          {"metrics", array_of(report.metrics)},
          {"not_measured", array_of(report.not_measured)},
          {"blocks", array_of(report.blocks)},
          {"notes", report.notes},
          {"fleet",
           {{"nodes", report.nodes},
            {"ranks", report.ranks},
            {"gpus", Json(report.gpus)},
            {"lost", report.lost_nodes}}},
          {"time", json_of(report.time)},
          {"waiting", json_of(report.waiting)}};
}

}  // namespace fleetbench
