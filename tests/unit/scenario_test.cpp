#include "results-schema/scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results-schema/check.hpp"
#include "results-schema/embedded.hpp"

namespace fleetbench {
namespace {

std::string error_of(const std::string& text) {
  try {
    parse_scenario(text, "x.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

// A scenario whose only step has these further keys.
std::string with_step(const std::string& keys) {
  return R"({"schema": "fleetbench-scenario/1.0", "name": "n", "steps": [{"probe": "p", )" + keys +
         "}]}";
}

std::string with(const std::string& keys) {
  return R"({"schema": "fleetbench-scenario/1.0", "name": "n", "steps": [{"probe": "p"}], )" +
         keys + "}";
}

std::string nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(Scenario, SizesDepthAndNumbersAreLimitedByErrorsThatNameThem) {
  std::string many = "0";
  for (int i = 0; i < 100'000; ++i) {
    many += ",0";
  }
  EXPECT_EQ(error_of(with_step(R"("params": {"list": [)" + many + "]}")),
            "x.json: steps[0].params.list: has 100001 items; at most 4096 are read");
  EXPECT_EQ(error_of(with_step(R"("params": {"text": ")" + std::string(200'000, 'x') + "\"}")),
            "x.json: steps[0].params.text: has 200000 bytes; at most 131072 are read");
  EXPECT_EQ(error_of(with_step("\"params\": {\"" + std::string(600, 'k') + "\": 1}")),
            "x.json: steps[0].params: has 600 bytes in the name of a key; at most 512 are read");
  // Of a thousand leaves below long names none takes the time of writing where it stands.
  EXPECT_EQ(error_of(with_step("\"params\": {\"" + std::string(500'000, 'k') + "\": [[" +
                               many.substr(0, 8001) + "]]}")),
            "x.json: steps[0].params: has 500000 bytes in the name of a key; at most 512 are read");
  EXPECT_THAT(error_of(with_step(R"("params": {"deep": )" + nested(100'000) + "}")),
              testing::HasSubstr(": nested more than 100 deep"));
  EXPECT_THAT(error_of(nested(1'000'000)), testing::HasSubstr(": nested more than 100 deep"));
  EXPECT_THAT(error_of(with(R"("passes": 1000000000)")),
              testing::HasSubstr("passes: 1000000000 is out of"));
  EXPECT_THAT(error_of(with(R"("passes": 1e999)")), testing::HasSubstr("1e999"));
  EXPECT_THAT(error_of(with(R"("passes": NaN)")), testing::HasSubstr("x.json:1:"));
  EXPECT_THAT(error_of(with(R"("passes": -Infinity)")), testing::HasSubstr("x.json:1:"));
  EXPECT_THAT(error_of(with_step(R"("limit_s": 1e300)")),
              testing::HasSubstr("limit_s: 1e+300 is out"));
  std::string steps = R"({"probe": "p", "id": "a"})";
  for (int i = 0; i < 4000; ++i) {
    steps += R"(,{"probe": 1})";
  }
  EXPECT_THAT(
      error_of(R"({"schema": "fleetbench-scenario/1.0", "name": "n", "steps": [)" + steps + "]}"),
      testing::EndsWith("more faults"));
}

// A regular expression that repeats without end takes stack for each character of a hostile text.
void expect_bounded_patterns(const Json& schema, const std::string& name) {
  if (schema.is_object() && schema.contains("pattern") && schema["pattern"].is_string()) {
    const auto pattern = schema["pattern"].get<std::string>();
    EXPECT_EQ(pattern.find_first_of("*+"), std::string::npos) << name << ": " << pattern;
  }
  if (schema.is_structured()) {
    for (const Json& child : schema) {
      expect_bounded_patterns(child, name);
    }
  }
}

TEST(Scenario, NoPatternOfItsSchemaRepeatsWithoutEnd) {
  expect_bounded_patterns(schema_named("scenario"), "scenario");
}

struct Case {
  std::string text;
  std::string message;
};

TEST(Scenario, ErrorsNameFilePathValueAndWhatIsAllowed) {
  const Case cases[] = {
      {with_step(R"("schedule": "toghether")"),
       R"(x.json: steps[0].schedule: "toghether" is none of together, alone, both, ramp)"},
      {with_step(R"("devices": "two")"),
       R"(x.json: steps[0].devices: "two" is none of all, one, both)"},
      {with_step(R"("operations": 1e300)"),
       "x.json: steps[0].operations: 1e+300 is out of range: at least 1 and at most 1e+18"},
      {R"({"schema": "fleetbench-scenario/1.0", "name": "n", "steps": [{"probe": "a b"}]})",
       R"(x.json: steps[0].probe: "a b" does not match ^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$)"},
      {with_step(R"("schedule": 3)"), "x.json: steps[0].schedule: 3 is not of type string"},
      {with_step(R"("pairs": "some")"),
       R"(x.json: steps[0].pairs: "some" is none of all_pairs, matchings)"},
      {with_step(R"("matchings": 0, "pairs": "matchings")"),
       "x.json: steps[0].matchings: 0 is out of range: at least 1 and at most 1000"},
      {with_step(R"("matchings": 3)"),
       R"(x.json: steps[0].matchings: has no meaning without "pairs": "matchings")"},
      {with_step(R"("groups": {"size": 1})"),
       "x.json: steps[0].groups.size: 1 is out of range: at least 2 and at most 4096"},
      {with_step(R"("groups": {"rounds": 0})"),
       "x.json: steps[0].groups.rounds: 0 is out of range: at least 1 and at most 1000"},
      {with_step(R"("groups": {"rounds": "many"})"),
       R"(x.json: steps[0].groups.rounds: "many" is not of type integer)"},
      {with_step(R"("groups": {"sise": 8})"),
       R"(x.json: steps[0].groups: unknown key "sise"; allowed are rounds, size)"},
      {with_step(R"("groups": 8)"), "x.json: steps[0].groups: 8 is not of type object"},
      {with_step(R"("limit_s": 0)"),
       "x.json: steps[0].limit_s: 0 is out of range: over 0 and at most 86400"},
      {with_step(R"("limit_s": "1 minute")"),
       R"(x.json: steps[0].limit_s: "1 minute" is not of type number (over 0 and at most 86400))"},
      {with_step(R"("passes": 2.5)"), "x.json: steps[0].passes: 2.5 is not of type integer"},
      {with_step(R"("passes": 9)"), "x.json: steps[0].passes: 9 is more than the scenario's 5"},
      {with_step(R"("params": [1])"), "x.json: steps[0].params: [1] is not of type object"},
      {with_step(R"("schedul": "alone")"),
       R"(x.json: steps[0]: unknown key "schedul"; allowed are across, cross_rails, devices, groups, id, limit_s, matchings, operations, pairs, params, passes, probe, schedule)"},
      {with_step(R"("id": "a b")"),
       R"(x.json: steps[0].id: "a b" does not match ^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$)"},
      {with(R"("passes": 0)"), "x.json: passes: 0 is out of range: at least 1 and at most 100000"},
      {with(R"("passes": true)"), "x.json: passes: true is not of type integer"},
      {with(R"("pases": 3)"),
       R"(x.json: unknown key "pases"; allowed are description, name, passes, schema, steps)"},
      {R"({"schema": "fleetbench-scenario/1.0", "name": "n", "steps": []})",
       "x.json: steps: has 0 items; allowed are 1 to 200"},
      {R"({"schema": "fleetbench-scenario/1.0", "name": "n", "steps": {}})",
       "x.json: steps: {} is not of type array"},
      {R"({"schema": "fleetbench-scenario/1.0", "name": "n", "steps": [{"id": "x"}]})",
       R"(x.json: steps[0]: "probe" is missing)"},
      {R"({"schema": "fleetbench-scenario/2.0", "name": "n", "steps": [{"probe": "p"}]})",
       R"(x.json: schema: "fleetbench-scenario/2.0" does not match ^fleetbench-scenario/1[.][0-9]{1,9}$)"},
      {R"({"schema": "fleetbench-scenario/1", "name": "n", "steps": [{"probe": "p"}]})",
       R"(x.json: schema: "fleetbench-scenario/1" does not match)"},
      {R"({"schema": 1.0, "name": "n", "steps": [{"probe": "p"}]})",
       "x.json: schema: 1.0 is not of type string"},
      {R"({"name": "n", "steps": [{"probe": "p"}]})", R"(x.json: "schema" is missing)"},
      {R"({"schema": "fleetbench-scenario/1.0", "name": "n", "steps": [{"probe": "p"}, {"probe": "p"}]})",
       R"(x.json: steps[1].id: "p" is used twice; give each step an id of its own)"},
      {"[]", "x.json: [] is not of type object"},
      {"{\n  \"schema\": \"fleetbench-scenario/1.0\",,\n}", "x.json:2:39: this is not JSON"},
      {"", "x.json:1:1: this is not JSON"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(error_of(c.text), testing::HasSubstr(c.message)) << c.text;
  }
}

TEST(Scenario, EveryFaultIsNamedAtOnce) {
  const auto error = error_of(with_step(R"("schedule": "x", "limit_s": -1)"));
  EXPECT_THAT(error, testing::HasSubstr("x.json: steps[0].schedule: "));
  EXPECT_THAT(error, testing::HasSubstr("x.json: steps[0].limit_s: "));
}

TEST(Scenario, AbsentKeysHaveTheirDefaults) {
  const auto scenario = parse_scenario(with(R"("description": "d")"), "x.json");
  EXPECT_EQ(scenario.passes, 5);
  ASSERT_EQ(scenario.steps.size(), 1U);
  EXPECT_EQ(scenario.steps[0].id, "p");
  EXPECT_EQ(scenario.steps[0].schedule, Schedule::together);
  EXPECT_EQ(scenario.steps[0].pairs, Pairs::all_pairs);
}

TEST(Scenario, WhatIsWrittenIsReadAgainTheSame) {
  const auto scenario = parse_scenario(
      with_step(R"("id": "x", "pairs": "matchings", "matchings": 3, "passes": 2, "limit_s": 1.5)"),
      "x.json");
  const auto json = to_json(scenario);
  EXPECT_TRUE(check_against(json, schema_named("scenario")).empty());
  EXPECT_EQ(to_json(parse_scenario(json.dump(), "again")), json);
}

TEST(Scenario, GroupsHaveTheirDefaultsAndSurvive) {
  EXPECT_FALSE(parse_scenario(with_step(R"("id": "x")"), "x.json").steps[0].groups);
  const auto plain = parse_scenario(with_step(R"("groups": {})"), "x.json");
  ASSERT_TRUE(plain.steps[0].groups);
  EXPECT_EQ(plain.steps[0].groups->size, 8);
  EXPECT_EQ(plain.steps[0].groups->rounds, 4);
  const auto json =
      to_json(parse_scenario(with_step(R"("groups": {"size": 3, "rounds": 2})"), "x.json"));
  EXPECT_TRUE(check_against(json, schema_named("scenario")).empty());
  EXPECT_EQ(json.at("steps")[0].at("groups"), (Json{{"size", 3}, {"rounds", 2}}));
  EXPECT_EQ(to_json(parse_scenario(json.dump(), "again")), json);
}

TEST(Scenario, DevicesAreAllUnlessSaidAndSurvive) {
  EXPECT_EQ(parse_scenario(with_step(R"("id": "x")"), "x.json").steps[0].devices, Devices::all);
  for (const char* said : {"one", "both"}) {
    const auto json =
        to_json(parse_scenario(with_step(R"("devices": ")" + std::string(said) + "\""), "x.json"));
    EXPECT_TRUE(check_against(json, schema_named("scenario")).empty());
    EXPECT_EQ(json.at("steps")[0].at("devices"), said);
    EXPECT_EQ(to_json(parse_scenario(json.dump(), "again")), json);
  }
}

TEST(Scenario, WhichGpusMeetIsSaidAndSurvives) {
  EXPECT_FALSE(parse_scenario(with_step(R"("id": "x")"), "x.json").steps[0].across);
  for (const char* said : {"nodes", "node", "rails"}) {
    const auto text = R"("across": ")" + std::string(said) + R"(", "cross_rails": 3)";
    const auto json = to_json(parse_scenario(with_step(text), "x.json"));
    EXPECT_TRUE(check_against(json, schema_named("scenario")).empty());
    EXPECT_EQ(json.at("steps")[0].at("across"), said);
    EXPECT_EQ(json.at("steps")[0].at("cross_rails"), 3);
    EXPECT_EQ(to_json(parse_scenario(json.dump(), "again")), json);
  }
}

TEST(Scenario, AnyMinorVersionIsRead) {
  for (const char* version : {"1.0", "1.1", "1.23"}) {
    const auto text = std::string(R"({"schema": "fleetbench-scenario/)") + version +
                      R"(", "name": "n", "steps": [{"probe": "p"}]})";
    EXPECT_EQ(error_of(text), "no error") << version;
  }
}

TEST(Scenario, TheOnesThatAreBuiltInAreValid) {
  EXPECT_GE(embedded_scenarios().size(), 2U);
  for (const auto& file : embedded_scenarios()) {
    EXPECT_EQ(parse_scenario(file.text, file.name).name, file.name);
  }
}

TEST(WithDefaults, FillsWhatIsAbsentAlone) {
  const auto schema =
      Json::parse(R"({"properties": {"a": {"default": 1}, "b": {"default": [2]}, "c": {}}})");
  EXPECT_EQ(with_defaults({{"a", 5}}, schema), Json::parse(R"({"a": 5, "b": [2]})"));
}

}  // namespace
}  // namespace fleetbench
