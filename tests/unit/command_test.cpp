#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "probes/registry.hpp"
#include "probes/support/scratch.hpp"
#include "results-schema/check.hpp"

namespace fleetbench {
namespace {

using testing::HasSubstr;

Json params(const std::string& script, Json metrics = Json::parse(R"([{"name": "step_s"}])")) {
  return with_defaults({{"argv", {"sh", "-c", script}}, {"metrics", std::move(metrics)}},
                       make_command()->info().params_schema);
}

Measurement run(const Json& params, const Json& work = Json::object()) {
  return make_command()->prepare(params, work)->measure();
}

std::string error_of(const Json& params) {
  try {
    run(params);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(Command, ItsNumbersAreTheSamples) {
  const auto measurement = run(params(
      R"(echo '{"step_s": 0.4, "loss": 2, "name": "x"}'; echo epoch 1; echo '{"step_s": 0.6}';
         echo '{"step_s": 9}'; echo '{"step_s": "no number"}'; echo '[1]')"));
  ASSERT_EQ(measurement.values.size(), 1U);
  EXPECT_EQ(measurement.values[0], 0.6);
  EXPECT_EQ(measurement.detail.at("samples").at("step_s"),
            Json({{"count", 3}, {"min", 0.4}, {"max", 9.0}}));
  EXPECT_EQ(measurement.detail.at("not_asked_for"), Json({"loss"}));
}

TEST(Command, UnitsFollowFromNamesOrAreGiven) {
  const auto metrics = make_command()->metrics(params("true", Json::parse(R"([
      {"name": "step_s"}, {"name": "images_per_s"}, {"name": "bw", "unit": "B/s", "better": "higher"},
      {"name": "stalls_per_s", "better": "lower"}])")));
  ASSERT_EQ(metrics.size(), 4U);
  EXPECT_EQ(metrics[0].unit, "s");
  EXPECT_EQ(metrics[0].better, Better::lower);
  EXPECT_EQ(metrics[1].unit, "1/s");
  EXPECT_EQ(metrics[1].better, Better::higher);
  EXPECT_EQ(metrics[2].unit, "B/s");
  EXPECT_EQ(metrics[3].better, Better::lower);
  EXPECT_EQ(metrics[0].layer, Layer::step);
}

TEST(Command, SaysWhatIsWrongWithItsMetrics) {
  const auto probe = make_command();
  const auto message = [&](const char* metrics) {
    try {
      probe->metrics(params("true", Json::parse(metrics)));
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message(R"([{"name": "loss"}])"), HasSubstr("\"loss\": its name does not end"));
  EXPECT_THAT(message(R"([{"name": "loss", "unit": "1"}])"), HasSubstr("\"better\""));
  EXPECT_THAT(message(R"([{"name": "a_s"}, {"name": "a_s"}])"), HasSubstr("twice"));
  const auto schema = probe->info().params_schema;
  for (const char* bad :
       {R"({"argv": ["x"]})", R"({"metrics": [{"name": "a_s"}]})",
        R"({"argv": [""], "metrics": [{"name": "a_s"}]})",
        R"({"argv": "x", "metrics": [{"name": "a_s"}]})",
        R"({"argv": ["x"], "metrics": [{"unit": "s"}]})", R"({"argv": ["x"], "metrics": ["a_s"]})",
        R"({"argv": ["x"], "metrics": [{"name": "a_s", "better": "more"}]})"}) {
    EXPECT_FALSE(check_against(with_defaults(Json::parse(bad), schema), schema).empty()) << bad;
  }
}

TEST(Command, SaysWhyThereIsNoValue) {
  EXPECT_THAT(
      error_of(params("echo '{\"other\": 1}'; echo text")),
      HasSubstr("no line with a finite number \"step_s\": 1 JSON objects with other, and 1"));
  EXPECT_THAT(error_of(params("echo '{\"step_s\": 1e999}'")), HasSubstr("no line"));
  EXPECT_EQ(error_of(params("echo '{\"step_s\": 1}'; echo no GPU >&2; exit 4")),
            "sh exited with code 4: no GPU");
  Json absent = params("");
  absent["argv"] = {"no-such-program"};
  EXPECT_EQ(error_of(absent), "no-such-program: there is no such program on this node");
}

// Texts of a hostile program: too deep, too long, and such as would steer a terminal.
TEST(Command, WhatItPrintsBesidesItsNumbersDoesNoHarm) {
  const auto measurement = run(params(
      R"(printf '{"a":'; head -c 30000 /dev/zero | tr '\0' '['; head -c 30000 /dev/zero | tr '\0' ']'; echo '}';
         head -c 10000000 /dev/zero | tr '\0' '['; echo; printf '%s\n' '{"\u202e\u001b[2J": 1}';
         echo '{"step_s": 1}')"));
  EXPECT_EQ(measurement.values[0], 1);
  EXPECT_EQ(measurement.detail.at("not_asked_for"), Json({"  [2J"}));
}

// A hostile scenario asks for what no machine has.
void expect_bounds(const Json& schema, const std::string& path) {
  if (schema.is_object() && schema.contains("type")) {
    const Json& type = schema["type"];
    if (type == "integer" || type == "number") {
      EXPECT_TRUE(schema.contains("maximum")) << path;
      EXPECT_TRUE(schema.contains("minimum") || schema.contains("exclusiveMinimum")) << path;
    } else if (type == "object") {
      EXPECT_TRUE(schema.contains("additionalProperties")) << path;
    }
    if (schema.contains("pattern")) {
      EXPECT_EQ(schema["pattern"].get<std::string>().find_first_of("*+"), std::string::npos)
          << path;
    }
  }
  if (schema.is_structured()) {
    for (const auto& [key, child] : schema.items()) {
      expect_bounds(child, path + "." + key);
    }
  }
}

TEST(Probes, EveryNumberThatAScenarioMaySetHasBounds) {
  for (const auto& probe : worker_probes()) {
    expect_bounds(probe->info().params_schema, probe->info().name);
  }
}

TEST(Command, WhatMayBeZeroIsNotJudged) {
  const auto zero = R"(echo '{"step_s": 0}')";
  EXPECT_THAT(error_of(params(zero)), HasSubstr("is 0: nodes are compared by ratios"));
  const auto reported = params(zero, Json::parse(R"([{"name": "step_s", "judged": false}])"));
  EXPECT_EQ(run(reported).values[0], 0);
  EXPECT_FALSE(make_command()->metrics(reported)[0].judged);
}

TEST(Command, IsLookedForInItsFolder) {
  const Scratch folder(std::filesystem::temp_directory_path());
  const auto script = folder.path() / "train.sh";
  std::ofstream(script) << "#!/bin/sh\necho '{\"step_s\": 3}'\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  Json here = params("");
  here["argv"] = {"./train.sh"};
  here["folder"] = folder.path().string();
  EXPECT_EQ(run(here).values[0], 3);
}

TEST(Command, OfAFleetKnowsTheOthers) {
  const Json work = {{"place", {{"index", 1}, {"nodes", {"a", "b", "c"}}}}};
  const auto measurement =
      run(params(R"(test "$FLEETBENCH_NODES" = a,b,c && test $FLEETBENCH_NODE_COUNT = 3 &&
                echo "{\"step_s\": $FLEETBENCH_NODE_INDEX}")"),
          work);
  EXPECT_EQ(measurement.values[0], 1);
  EXPECT_EQ(make_fleet_command()->info().participants, Participants::group);
}

}  // namespace
}  // namespace fleetbench
