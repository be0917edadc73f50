// Files with their right reading beside them: tests/data/cases/*/NAME.expect.json says what a
// reader must find, what it must report, and where several readings are right.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "harness/record/long_csv.hpp"
#include "harness/record/superbench.hpp"

namespace fleetbench::record {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const fs::path kCases = fs::path(FLEETBENCH_SOURCE_DIR) / "tests/data/cases";

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// One value of a run, as the cases describe it.
struct Value {
  std::string node;
  std::string peer;
  std::string benchmark;
  std::string device;
  int pass = 0;
  MetricInfo metric;
  double value = 0;
};

std::vector<Value> values_of(const RunData& run) {
  std::vector<Value> values;
  for (const SampleRecord& sample : run.samples) {
    const StepRecord& step = run.steps.at(static_cast<std::size_t>(sample.step));
    for (std::size_t m = 0; m < sample.values.size(); ++m) {
      if (sample.values[m]) {
        values.push_back({run.header.nodes.at(sample.node).name,
                          sample.peer ? run.header.nodes.at(*sample.peer).name : "", step.id,
                          sample.device, sample.pass, step.metrics.at(m), *sample.values[m]});
      }
    }
  }
  return values;
}

// Links are compared under one name, without the numbers of round and pair.
std::string expected_metric(const Json& sample) {
  const std::string name = sample.at("metric");
  return sample.contains("a") ? std::regex_replace(name, std::regex("(_[0-9]+){2}$"), "") : name;
}

// A rank is a device, except where the benchmark has none but rank 0.
bool has_rank(const Value& value, const Json& sample) {
  const int rank = sample.value("rank", 0);
  return value.device == "rank" + std::to_string(rank) || (rank == 0 && value.device.empty());
}

bool is(const Value& value, const Json& sample) {
  const bool same_link = sample.contains("a")
                             ? value.node == sample["a"] && value.peer == sample["b"]
                             : value.node == sample["node"] && value.peer.empty();
  const bool same_device =
      sample.contains("device") ? value.device == sample["device"] : has_rank(value, sample);
  const bool same_better =
      !sample.contains("better") || sample["better"] == std::string(to_string(value.metric.better));
  const std::string unit = sample.value("unit", Json()).is_null() ? "" : sample.value("unit", "");
  return same_link && same_device && same_better &&
         value.benchmark == sample.value("benchmark", "") &&
         value.metric.name == expected_metric(sample) && value.metric.unit == unit &&
         value.value == sample["value"].get<double>() &&
         (!sample.contains("run") || value.pass == sample["run"]) && value.metric.judged;
}

std::set<int> lines_of_choice(const Json& expect) {
  std::set<int> lines;
  for (const Json& choice : expect.value("either", Json::array())) {
    lines.insert(choice.at("line").get<int>());
  }
  return lines;
}

void check_samples(const ImportedSamples& read, const Json& expect) {
  std::vector<Value> values = values_of(read.run);
  const std::set<int> choice = lines_of_choice(expect);
  for (const Json& sample : expect.value("samples", Json::array())) {
    const auto found =
        std::ranges::find_if(values, [&](const Value& value) { return is(value, sample); });
    if (found != values.end()) {
      values.erase(found);
    } else {
      EXPECT_TRUE(choice.contains(sample.at("line").get<int>())) << "not found: " << sample;
    }
  }
  for (const Json& setting : expect.value("settings", Json::array())) {
    const auto found = std::ranges::find_if(values, [&](const Value& value) {
      return value.node == setting["node"] && value.metric.name == setting["metric"] &&
             value.metric.unit == setting["unit"] && value.value == setting["value"].get<double>();
    });
    ASSERT_NE(found, values.end()) << setting;
    EXPECT_FALSE(found->metric.judged);
    values.erase(found);
  }
  // What a choice allows may be there beside, up to two values for its line; nothing else.
  EXPECT_LE(values.size(), 2 * choice.size());
}

void check_problems(const std::vector<Problem>& problems, const Json& expected,
                    const std::set<int>& choice) {
  std::vector<Problem> left = problems;
  for (const Json& one : expected) {
    const auto found = std::ranges::find_if(left, [&](const Problem& problem) {
      return problem.line == one.value("line", 0) && problem.kind == one.at("kind");
    });
    ASSERT_NE(found, left.end()) << one;
    for (const char* key : {"text", "node", "metric", "column"}) {
      EXPECT_THAT(found->text(), HasSubstr(one.value(key, "")));
    }
    for (const Json& name : one.value("found", Json::array())) {
      EXPECT_THAT(found->text(), HasSubstr(name.get<std::string>()));
    }
    for (const char* key : {"of_line", "with_line"}) {
      EXPECT_THAT(found->text(), HasSubstr(one.contains(key) ? "line " + one[key].dump() : ""));
    }
    left.erase(found);
  }
  for (const Problem& problem : left) {
    EXPECT_TRUE(choice.contains(problem.line)) << problem.kind << ": " << problem.text();
  }
}

const SampleRecord* failure_of(const RunData& run, const std::string& node,
                               const std::string& benchmark, const std::string& device) {
  for (const SampleRecord& sample : run.samples) {
    if (sample.status != Status::ok && run.header.nodes.at(sample.node).name == node &&
        run.steps.at(sample.step).id == benchmark && sample.device == device) {
      return &sample;
    }
  }
  return nullptr;
}

void check_failures(const RunData& run, const Json& expect) {
  for (const Json& failed : expect.value("failed", Json::array())) {
    const std::string rank = "rank" + failed.at("rank").dump();
    const SampleRecord* sample = failure_of(run, failed["node"], failed["benchmark"], rank);
    if (sample == nullptr && failed["rank"] == 0) {
      sample = failure_of(run, failed["node"], failed["benchmark"], "");
    }
    ASSERT_NE(sample, nullptr) << failed;
    EXPECT_EQ(to_string(sample->status), failed["status"].get<std::string>());
    EXPECT_THAT(sample->reason, HasSubstr(failed["name"].get<std::string>()));
    EXPECT_THAT(sample->reason, HasSubstr("code " + failed["return_code"].dump()));
    EXPECT_THAT(sample->reason, HasSubstr(":" + failed["line"].dump()));
  }
}

void check_missing(const RunData& run, const std::string& node, const std::string& benchmark) {
  const SampleRecord* sample = failure_of(run, node, benchmark, "");
  ASSERT_NE(sample, nullptr) << benchmark << " on " << node;
  EXPECT_THAT(sample->reason, HasSubstr("no value of " + benchmark));
  const bool named = std::ranges::any_of(run.omissions, [&](const OmissionRecord& omission) {
    return omission.step == benchmark && run.header.nodes.at(*omission.node).name == node;
  });
  EXPECT_TRUE(named) << benchmark << " on " << node;
}

void check_all_missing(const RunData& run, const Json& expect) {
  std::size_t expected = 0;
  const Json missing_on = expect.value("missing_on", Json::object());
  for (const auto& [node, benchmarks] : missing_on.items()) {
    for (const Json& benchmark : benchmarks) {
      check_missing(run, node, benchmark);
      ++expected;
    }
  }
  for (const Json& missing : expect.value("missing", Json::array())) {
    check_missing(run, missing["node"], missing["benchmark"]);
    ++expected;
  }
  if (expected > 0) {
    EXPECT_EQ(run.omissions.size(), expected);
  }
}

// {"mem-bw/h2d_bw": {"bx-01": {"0": 26.2}}}: these values and no others.
void check_samples_of(const RunData& run, const Json& expect) {
  if (!expect.contains("samples_of")) {
    return;
  }
  std::vector<Value> values = values_of(run);
  for (const auto& [name, nodes] : expect["samples_of"].items()) {
    const auto slash = name.rfind('/');
    for (const auto& [node, ranks] : nodes.items()) {
      for (const auto& [rank, value] : ranks.items()) {
        const Json sample{{"node", node},
                          {"benchmark", name.substr(0, slash)},
                          {"metric", name.substr(slash + 1)},
                          {"unit", expect.at("units").at(name)},
                          {"rank", std::stoi(rank)},
                          {"value", value}};
        const auto found =
            std::ranges::find_if(values, [&](const Value& one) { return is(one, sample); });
        ASSERT_NE(found, values.end()) << sample;
        values.erase(found);
      }
    }
  }
  EXPECT_TRUE(values.empty());
}

ImportedSamples read(const std::string& reader, const fs::path& path) {
  const std::vector<SourceText> files{{path.filename().string(), read_file(path)}};
  return reader == "csv" ? read_long_csv(files) : read_superbench(files);
}

TEST(ImportedCases, EveryCaseIsReadAsItShould) {
  int cases = 0;
  for (const std::string reader : {"csv", "superbench"}) {
    for (const auto& entry : fs::directory_iterator(kCases / reader)) {
      const std::string name = entry.path().filename().string();
      if (name.ends_with(".expect.json")) {
        continue;
      }
      SCOPED_TRACE(name);
      ++cases;
      const Json expect =
          Json::parse(read_file(kCases / reader / (entry.path().stem().string() + ".expect.json")))
              .at("expect");
      const ImportedSamples result = read(reader, entry.path());
      EXPECT_TRUE(result.run.imported);
      if (!expect.contains("samples_of")) {
        check_samples(result, expect);
      }
      check_problems(result.errors, expect.at("errors"), lines_of_choice(expect));
      check_problems(result.warnings, expect.value("warnings", Json::array()), {});
      EXPECT_EQ(result.run.damage.size(), result.errors.size());
      check_failures(result.run, expect);
      check_all_missing(result.run, expect);
      check_samples_of(result.run, expect);
    }
  }
  EXPECT_EQ(cases, 8);
}

std::vector<std::string> problems_at(const std::vector<Problem>& problems, int line) {
  std::vector<std::string> kinds;
  for (const Problem& problem : problems) {
    if (problem.line == line) {
      kinds.push_back(problem.kind);
    }
  }
  return kinds;
}

// Where a case leaves a choice, this is ours: docs/imported-samples.md.
TEST(ImportedCases, ChoicesAreMadeAsDocumented) {
  const auto numbers = read("csv", kCases / "csv/bad_numbers.csv");
  EXPECT_THAT(problems_at(numbers.errors, 11), testing::ElementsAre("bad_number"));  // 0 GB/s
  EXPECT_THAT(problems_at(numbers.errors, 15), testing::ElementsAre("bad_number"));  // 26.6 GB/s
  EXPECT_EQ(values_of(numbers.run).size(), 5U);
  const auto quoted = read("csv", kCases / "csv/bom_crlf_quoted.csv");
  EXPECT_THAT(problems_at(quoted.errors, 4), testing::ElementsAre("bad_number"));  // "12,345.5"
  EXPECT_EQ(values_of(quoted.run).size(), 3U);
  const auto passes = read("csv", kCases / "csv/duplicates_and_passes.csv");
  EXPECT_THAT(problems_at(passes.warnings, 6), testing::ElementsAre("conflict"));  // both kept
  EXPECT_EQ(values_of(passes.run).size(), 7U);
}

}  // namespace
}  // namespace fleetbench::record
