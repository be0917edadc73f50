#include "probes/fio/fio_output.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace fleetbench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;

const fs::path kCases = fs::path(FLEETBENCH_SOURCE_DIR) / "tests/data/fio";

std::string read_file(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// "clat_p99_9_ns" is the 99.9th.
std::optional<double> clat_percentile(const FioDirection& direction, std::string key) {
  key = key.substr(6, key.size() - 9);
  std::replace(key.begin(), key.end(), '_', '.');
  return direction.clat_ns(std::stod(key));
}

std::optional<double> figure(const FioDirection& direction, const std::string& key) {
  const std::map<std::string, std::optional<double>> plain = {
      {"io_bytes", direction.io_bytes},
      {"bw_bytes_per_s", direction.bw_bytes_per_s},
      {"iops", direction.iops},
      {"total_ios", direction.total_ios},
      {"clat_mean_ns", direction.clat_mean_ns},
      {"clat_samples", direction.clat_samples}};
  const auto found = plain.find(key);
  return found != plain.end() ? found->second : clat_percentile(direction, key);
}

void check_job(const FioJob& job, const json& expected) {
  EXPECT_EQ(job.name, expected.at("job"));
  EXPECT_EQ(job.error, expected.at("error"));
  EXPECT_EQ(job.error == 0 ? "ok" : "failed", expected.at("status"));
  EXPECT_EQ(job.error_name, expected.value("error_name", ""));
  EXPECT_EQ(job.group, expected.value("group", false));
  EXPECT_EQ(job.directions.size(), expected.at("directions").size());
  for (const auto& [name, figures] : expected.at("directions").items()) {
    ASSERT_TRUE(job.directions.contains(name)) << name;
    for (const auto& [key, value] : figures.items()) {
      EXPECT_EQ(figure(job.directions.at(name), key), value.get<double>()) << name << " " << key;
    }
  }
  ASSERT_EQ(job.steadystate.has_value(), expected.contains("steadystate"));
  if (job.steadystate) {
    const json& state = expected.at("steadystate");
    EXPECT_EQ(job.steadystate->attained, state.at("attained"));
    EXPECT_EQ(job.steadystate->bw_bytes_per_s, state.at("bw_bytes_per_s"));
    EXPECT_EQ(job.steadystate->iops, state.at("iops"));
  }
}

void check_errors(const FioOutput& output, const json& expected) {
  ASSERT_EQ(output.errors.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(output.errors[i].line, expected[i].at("line"));
    EXPECT_EQ(output.errors[i].kind, expected[i].at("kind"));
    EXPECT_EQ(output.errors[i].error, expected[i].at("errno"));
    EXPECT_THAT(output.errors[i].text, HasSubstr(expected[i].at("text_contains")));
  }
}

TEST(FioOutput, EveryCaseIsReadAsItShould) {
  int cases = 0;
  for (const auto& entry : fs::directory_iterator(kCases)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".expect.json")) {
      continue;
    }
    SCOPED_TRACE(name);
    ++cases;
    const json expected =
        json::parse(read_file(kCases / (entry.path().stem().string() + ".expect.json")))
            .at("expect");
    const FioOutput output = read_fio_output(read_file(entry.path()));
    EXPECT_EQ(output.version, expected.at("fio_version"));
    ASSERT_EQ(output.jobs.size(), expected.at("jobs").size());
    for (std::size_t i = 0; i < output.jobs.size(); ++i) {
      check_job(output.jobs[i], expected.at("jobs")[i]);
    }
    for (const json& nothing : expected.value("no_data", json::array())) {
      const FioJob* job = output.find(nothing.at("job").get<std::string>());
      ASSERT_NE(job, nullptr);
      EXPECT_THAT(job->no_data, Contains(nothing.at("direction").get<std::string>()));
    }
    check_errors(output, expected.at("errors"));
  }
  EXPECT_EQ(cases, 6);
}

TEST(FioOutput, PercentilesThatFioWasNotAskedForAreAbsent) {
  const auto output = read_fio_output(read_file(kCases / "json_plus_steadystate.json"));
  EXPECT_FALSE(output.jobs.at(0).directions.at("read").clat_ns(95));
  const auto old = read_fio_output(read_file(kCases / "v2_units.json"));
  EXPECT_FALSE(old.jobs.at(0).directions.at("write").clat_ns(0));
}

TEST(FioOutput, DirectionsOfAMixAddUp) {
  const auto output = read_fio_output(read_file(kCases / "several_jobs.json"));
  const auto& mix = output.find("mix")->directions;
  EXPECT_EQ(mix.at("read").iops + mix.at("write").iops, 25600);
}

TEST(FioOutput, WhatStandsAroundTheJsonIsKept) {
  const auto output = read_fio_output(read_file(kCases / "braces_around_the_json.txt"));
  EXPECT_THAT(output.other_text, HasSubstr("{a,b}/big.0 exceeds"));
  EXPECT_THAT(output.other_text, HasSubstr("{partial}"));
}

std::string kinds(const std::string& text) {
  std::string all;
  for (const FioError& error : read_fio_output(text).errors) {
    all += (all.empty() ? "" : " ") + error.kind + "@" + std::to_string(error.line);
  }
  return all;
}

std::string one_job(const std::string& job) {
  return "{\n \"fio version\" : \"fio-3.36\",\n \"jobs\" : [ " + job + " ]\n}\n";
}

std::string reading(const std::string& bw, const std::string& rest = "") {
  return one_job(R"({"jobname":"a","error":0,"read":{"io_bytes":4096,"io_kbytes":4,"bw_bytes":)" +
                 bw + R"(,"iops":1.0,"runtime":10,"total_ios":1)" + rest + "}}");
}

TEST(FioOutput, InvalidTextsAreErrorsWithALine) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"", "empty@1"},
      {" \n\n", "empty@1"},
      {"fio: no such engine\n", "no_rows@1"},
      {"{ not json }\n", "no_rows@1"},
      {"{\"other\": 1}\n", "no_rows@1"},
      {"{\"other\": \n", "no_rows@1"},
      {"fio: hm\n{\n \"fio version\" : \"fio-3.36\",\n \"jobs\" : [\n", "truncated@2"},
      {"{\n \"fio version\" : \"fio-3.36\",\n \"jobs\" : [ {\"a\" : , } ]\n}\n", "bad_line@1"},
      {one_job(""), "no_rows@1"},
      {one_job("7"), "bad_line@1"},
      {one_job("{}"), "bad_number@1"},
      {"{\"fio version\": \"x\", \"jobs\": 7}", "no_rows@1"},
      {reading("nan"), "bad_number@1"},
      {reading("-inf"), "bad_number@1"},
      {reading("-1"), "bad_number@1"},
      {reading("\"12\""), "bad_number@1"},
      {reading("4096"), ""},
      {reading("4096", ",\"bw_dev\":-nan"), ""},
      {"note: { x\n{ \"y\": {\n" + reading("4096"), ""},
      {one_job(R"({"jobname":"a","error":5})"), "failed@1"},
  };
  for (const auto& [text, expected] : table) {
    EXPECT_EQ(kinds(text), expected) << text;
  }
}

TEST(FioOutput, ADirectionWithABadFigureHasNoValues) {
  const auto output = read_fio_output(reading("nan"));
  EXPECT_TRUE(output.jobs.at(0).directions.empty());
  EXPECT_TRUE(output.jobs.at(0).no_data.empty());
}

TEST(FioOutput, BombsAreErrorsAndCostNothing) {
  const std::string deep = "{\"fio version\":" + std::string(1'000'000, '[');
  EXPECT_EQ(kinds(deep), "too_many@1");
  std::string open;
  for (int i = 0; i < 200'000; ++i) {
    open += "{\"a\":\n";
  }
  EXPECT_EQ(kinds(open), "too_many@1");
  EXPECT_EQ(kinds(std::string(15U << 20U, '{')), "no_rows@1");
  EXPECT_EQ(kinds(std::string(17U << 20U, ' ')), "too_many@1");
  EXPECT_EQ(kinds("{\"fio version\":\"" + std::string(1U << 20U, '\\')), "truncated@1");
}

TEST(FioOutput, NamesAndMessagesAreMadePrintable) {
  const auto output = read_fio_output("fio: \x1b[31m err=5/x\n" +
                                      one_job("{\"jobname\":\"\\u001b[2J\",\"error\":5}"));
  EXPECT_EQ(output.jobs.at(0).name.find('\x1b'), std::string::npos);
  EXPECT_EQ(output.errors.at(0).text.find('\x1b'), std::string::npos);
  EXPECT_EQ(output.errors.at(0).line, 1);
}

}  // namespace
}  // namespace fleetbench
