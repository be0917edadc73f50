#include "results-schema/baseline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "results-schema/check.hpp"
#include "tests/unit/baseline_example.hpp"

namespace fleetbench {
namespace {

std::string invalid_argument_of(const Json& json) {
  try {
    baseline_from_json(json);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

StepRecord step_with(const Json& params) {
  StepRecord step;
  step.id = "gemm";
  step.probe = "cpu_gemm";
  step.params = params;
  return step;
}

TEST(Baseline, SurvivesItsFile) {
  const Json json = to_json(example_baseline());
  EXPECT_EQ(check_against(json, schema_named("baseline")), std::vector<std::string>());
  const Baseline back = baseline_from_json(Json::parse(json.dump()));
  EXPECT_EQ(to_json(back), json);
  EXPECT_EQ(back.metrics[2].key.method, "gpu_copy/2-0c0ffee0");
  EXPECT_EQ(back.metrics[2].better, Better::lower);
  ASSERT_EQ(back.subjects.size(), example_baseline().subjects.size());
  EXPECT_EQ(back.subjects[5].device, "gpu1");
  EXPECT_EQ(back.subjects[5].cohort, "H100 80GB");
  EXPECT_EQ(back.subjects[5].value, 0.00375);
  EXPECT_EQ(back.subjects[0].device, "");
  EXPECT_EQ(back.inventory.at("H100 80GB").at("gpus[0].driver"), "550.54");
}

TEST(Baseline, AnEmptyOneSurvivesToo) {
  const Json json = to_json(Baseline());
  EXPECT_EQ(check_against(json, schema_named("baseline")), std::vector<std::string>());
  EXPECT_EQ(to_json(baseline_from_json(json)), json);
}

TEST(Baseline, ReadersTakeLaterMinorVersions) {
  Json json = to_json(example_baseline());
  json["schema"] = "fleetbench-baseline/1.9";
  json["weather"] = "fine";
  EXPECT_EQ(baseline_from_json(json).runs, example_baseline().runs);
}

TEST(Baseline, SizesDepthAndNumbersAreLimitedByErrorsThatNameThem) {
  const auto error_of = [](const std::string& text) -> std::string {
    try {
      parse_baseline(text, "b.json");
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  const std::string text = to_json(example_baseline()).dump();
  EXPECT_EQ(error_of(text), "no error");
  const auto with = [&text](const std::string& before, const std::string& after) {
    std::string changed = text;
    return changed.replace(changed.find(before), before.size(), after);
  };
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_THAT(error_of(with("\"metrics\":[", "\"metrics\":[" + deep + ",")),
              testing::HasSubstr(": nested more than 100 deep"));
  EXPECT_THAT(error_of("{\"a\":" + std::string(1'000'000, '{')),
              testing::HasSubstr("nested more than 100 deep"));
  EXPECT_THAT(error_of(with("\"median\":1500000000000.0", "\"median\":1e999")),
              testing::HasSubstr("b.json: number overflow parsing '1e999'"));
  for (const char* value : {"NaN", "Infinity", "-Infinity"}) {
    EXPECT_THAT(error_of(with("\"median\":1500000000000.0", std::string("\"median\":") + value)),
                testing::HasSubstr("this is not JSON"))
        << value;
  }
  for (const char* value : {"-1.0", "0", "null", "\"1\""}) {
    EXPECT_THAT(error_of(with("\"median\":1500000000000.0", std::string("\"median\":") + value)),
                testing::HasSubstr("median is not a number"))
        << value;
  }
  EXPECT_THAT(error_of(with("\"subjects\":3", "\"subjects\":10000000000")),
              testing::HasSubstr("metrics[0].subjects is not a whole number from 1"));
  EXPECT_THAT(error_of(with("cpu_gemm.fp64", std::string(100'000, 'm'))),
              testing::HasSubstr("is not a name of at most 4096 bytes"));
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_THAT(error_of(text.substr(0, length)), testing::StartsWith("b.json")) << length;
  }
}

// Where a key is taken away, or holds something else, the message names it and nothing is read.
TEST(Baseline, NamesTheKeyThatIsDamaged) {
  const Json whole = to_json(example_baseline());
  const std::vector<Json::json_pointer> pointers = {
      Json::json_pointer(""), Json::json_pointer("/metrics/1"), Json::json_pointer("/subjects/1")};
  for (const auto& place : pointers) {
    for (const auto& [key, value] : whole[place].items()) {
      Json removed = whole;
      removed[place].erase(key);
      EXPECT_NE(invalid_argument_of(removed).find(key + " is missing"), std::string::npos) << key;
      for (const Json& wrong : {Json(true), Json({{{"a", 1}}}), Json(-1.5)}) {
        Json changed = whole;
        changed[place][key] = wrong;
        EXPECT_NE(invalid_argument_of(changed).find(key), std::string::npos) << key << wrong;
      }
    }
  }
}

TEST(Baseline, RefusesFiguresThatCannotBe) {
  struct Case {
    const char* pointer;
    Json value;
    const char* message;
  };
  const Case cases[] = {
      {"/schema", "fleetbench-report/1.0",
       "schema is not \"fleetbench-baseline/1.\", which this build reads: "
       "\"fleetbench-report/1.0\""},
      {"/schema", "fleetbench-baseline/2.0",
       "schema is not \"fleetbench-baseline/1.\", which this build reads: "
       "\"fleetbench-baseline/2.0\""},
      {"/metrics/0/median", 0, "metrics[0].median is not a number over 0: 0"},
      {"/metrics/0/median", nullptr, "metrics[0].median is not a number: null"},
      {"/metrics/0/between", -0.1, "metrics[0].between is not a number from 0: -0.1"},
      {"/metrics/2/subjects", 0, "metrics[2].subjects is not a whole number from 1: 0"},
      {"/metrics/2/runs", 1.5, "metrics[2].runs is not a whole number from 1: 1.5"},
      {"/metrics/2/better", "bigger",
       "metrics[2].better: better \"bigger\" is none of lower, higher"},
      {"/subjects/2/levels/0/2", -3,
       "subjects[2].levels[0] is not [node, device, value over 0, runs from 1]: "
       "[\"node7\",\"gpu0\",-3,1]"},
      {"/subjects/2/levels/1/1", 7,
       "subjects[2].levels[1] is not [node, device, value over 0, runs from 1]: "
       "[\"node7\",7,0.00375,1]"},
      {"/subjects/2/levels/1/3", 0,
       "subjects[2].levels[1] is not [node, device, value over 0, runs from 1]: "
       "[\"node7\",\"gpu1\",0.00375,0]"},
      {"/subjects/2/levels/1/3", 1.5,
       "subjects[2].levels[1] is not [node, device, value over 0, runs from 1]: "
       "[\"node7\",\"gpu1\",0.00375,1.5]"},
      {"/subjects/2/levels/1", "node7",
       "subjects[2].levels[1] is not [node, device, value over 0, runs from 1]: \"node7\""},
      {"/runs/0", 7, "runs is not an array of texts: [7,\"20260504T000000Z-bbbb\"]"},
      {"/inventory/H100 80GB", 3, "inventory.H100 80GB is no object"},
      {"/inventory/H100 80GB/gpus[0].driver", 550,
       "inventory.H100 80GB.gpus[0].driver is not a text: 550"},
  };
  for (const Case& c : cases) {
    Json json = to_json(example_baseline());
    json[Json::json_pointer(c.pointer)] = c.value;
    EXPECT_EQ(invalid_argument_of(json), c.message);
  }
  EXPECT_EQ(invalid_argument_of(Json(3)), "the record is no object");
}

TEST(Baseline, RefusesTwoFiguresForTheSameThing) {
  Json json = to_json(example_baseline());
  json["metrics"][1] = json["metrics"][0];
  EXPECT_EQ(invalid_argument_of(json),
            "metrics: cpu_gemm.fp64 (cpu_gemm/1-9249c259) of cohort \"\" is in it twice");
  json = to_json(example_baseline());
  json["subjects"][2]["levels"][1] = json["subjects"][2]["levels"][0];
  EXPECT_EQ(invalid_argument_of(json),
            "subjects: gpu_copy.h2d_time (gpu_copy/2-0c0ffee0) of node7 gpu0 is in it twice");
}

TEST(MethodOf, IsTheSameWhereverItIsBuilt) {
  // By hand: FNV-1a of {"n":4} and of {}.
  EXPECT_EQ(method_of(step_with({{"n", 4}})), "cpu_gemm/1-01e29679");
  EXPECT_EQ(method_of(step_with(Json::object())), "cpu_gemm/1-5465b825");
}

TEST(MethodOf, TellsOtherParametersAndEqualOnesApart) {
  const std::string method = method_of(step_with({{"n", 4}, {"list", {1, 2.5}}}));
  EXPECT_EQ(method_of(step_with({{"list", {1.0, 2.5}}, {"n", 4.0}})), method);
  const std::vector<Json> others = {
      {{"n", 4.5}, {"list", {1, 2.5}}},  {{"n", "4"}, {"list", {1, 2.5}}},
      {{"n", 4}, {"list", {2.5, 1}}},    {{"n", 4}, {"list", {1, 2.5}}, {"m", nullptr}},
      {{"n", 4}, {"list", {true, 2.5}}}, {{"n", 1e300}, {"list", {1, 2.5}}}};
  for (const Json& params : others) {
    EXPECT_NE(method_of(step_with(params)), method) << params;
  }
}

TEST(MethodOf, TellsProbeVersionAndScheduleApart) {
  StepRecord step = step_with(Json::object());
  const std::string method = method_of(step);
  step.id = "another";
  EXPECT_EQ(method_of(step), method);
  step.method = 2;
  EXPECT_EQ(method_of(step), "cpu_gemm/2-5465b825");
  step.method = 1;
  step.concurrent = false;
  EXPECT_EQ(method_of(step), method + "-alone");
  step.concurrent = true;
  step.probe = "gpu_gemm";
  EXPECT_NE(method_of(step), method);
}

TEST(KeyOf, ImportedSamplesHaveNoMethod) {
  const StepRecord step = step_with(Json::object());
  MetricInfo metric;
  metric.name = "fp64";
  RunData run;
  EXPECT_EQ(key_of(run, step, metric), (BaselineKey{"gemm.fp64", method_of(step)}));
  run.imported = true;
  EXPECT_EQ(key_of(run, step, metric), (BaselineKey{"gemm.fp64", ""}));
  metric.name = "";
  EXPECT_EQ(key_of(run, step, metric).metric, "gemm");
}

}  // namespace
}  // namespace fleetbench
