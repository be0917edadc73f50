#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "results-schema/check.hpp"
#include "results-schema/run.hpp"
#include "tests/unit/detect_simulation.hpp"

namespace fleetbench {
namespace {

SampleRecord link_sample() {
  SampleRecord sample = sample_of(2, 1, 0, {947e6, std::nullopt});
  sample.slot = 12;
  sample.peer = 3;
  sample.start_s = 1.5;
  sample.prepare_s = 0.25;
  sample.measure_s = 0.5;
  sample.detail = {{"windows", 8}};
  return sample;
}

SampleRecord group_sample() {
  SampleRecord sample = sample_of(1, 0, 2, {1e9, std::nullopt});
  sample.group = {3, 2, 0};
  sample.ends = {{3, "gpu1"}, {2, "gpu1"}, {0, "9d"}};
  return sample;
}

SampleRecord failed_sample() {
  SampleRecord sample = sample_of(0, 0, 1, {});
  sample.status = Status::timeout;
  sample.reason = "no answer in 10 s";
  return sample;
}

ConfirmRecord confirm_record() {
  return {.confirm = 0,
          .step = 0,
          .pairs = 8,
          .compared = {{0, 3, "", 1, 2, "mpi_pairs.latency"},
                       {2, std::nullopt, "gpu0", 1, std::nullopt, "mpi_pairs.bandwidth sending"}},
          .reason = ""};
}

Record confirm_beside(int reference, std::optional<int> reference_peer) {
  return ConfirmRecord{0, 0, 8, {{0, 3, "", reference, reference_peer, "m"}}, ""};
}

std::vector<Record> one_of_each() {
  return {pairs_step(0),
          link_sample(),
          failed_sample(),
          LossRecord{3, 3, 12, "mpi_pairs", "measure", "silent"},
          OmissionRecord{"storage", std::nullopt, "no fio"},
          OmissionRecord{"storage", 2, "no space"},
          clean_end(),
          LossRecord{2, 2, std::nullopt, "start", "start", "silent"},
          group_sample(),
          confirm_record(),
          ConfirmRecord{1, 0, 0, {}, "no time was left"}};
}

std::string invalid_argument_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(RunRecords, SurviveTheJournal) {
  for (const Record& record : one_of_each()) {
    const Json json = to_json(record);
    EXPECT_EQ(check_against(json, schema_named("journal")), std::vector<std::string>()) << json;
    const Record back = record_from_json(Json::parse(json.dump()));
    EXPECT_EQ(back.index(), record.index());
    EXPECT_EQ(to_json(back), json);
  }
  const auto sample = std::get<SampleRecord>(record_from_json(to_json(link_sample())));
  EXPECT_EQ(sample.peer, 3);
  EXPECT_EQ(sample.values, link_sample().values);
  EXPECT_EQ(sample.detail, link_sample().detail);
  EXPECT_TRUE(sample.group.empty());
  EXPECT_FALSE(to_json(Record(link_sample())).contains("group"));
  const auto grouped = std::get<SampleRecord>(record_from_json(to_json(Record(group_sample()))));
  EXPECT_EQ(grouped.group, (std::vector<int>{3, 2, 0}));
  EXPECT_EQ(grouped.ends, group_sample().ends);
  EXPECT_FALSE(to_json(Record(link_sample())).contains("ends"));
}

TEST(RunRecords, AStepWithoutAMethodHasTheFirst) {
  StepRecord step = pairs_step(0);
  step.method = 3;
  Json json = to_json(Record(step));
  EXPECT_EQ(std::get<StepRecord>(record_from_json(json)).method, 3);
  json.erase("method");
  EXPECT_EQ(check_against(json, schema_named("journal")), std::vector<std::string>());
  EXPECT_EQ(std::get<StepRecord>(record_from_json(json)).method, 1);
}

TEST(RunRecords, AbsentAndNonFiniteValuesAreNull) {
  SampleRecord sample = link_sample();
  sample.values = {std::numeric_limits<double>::quiet_NaN(), std::nullopt};
  EXPECT_EQ(Json::parse(to_json(Record(sample)).dump()).at("values"), Json({nullptr, nullptr}));
}

TEST(RunRecords, HeaderSurvives) {
  RunHeader header = header_of(2);
  header.seed = std::numeric_limits<std::uint64_t>::max();
  header.arguments = {"--suite", "quick"};
  header.nodes[1].ranks = {1, 2};
  header.nodes[1].inventory = nullptr;
  header.topology.switches = {{"leaf0", {"node0", "node1"}, {}}, {"spine", {}, {"leaf0"}}};
  const Json json = to_json(header);
  EXPECT_EQ(check_against(json, schema_named("run")), std::vector<std::string>());
  const RunHeader back = run_header_from_json(Json::parse(json.dump()));
  EXPECT_EQ(to_json(back), json);
  EXPECT_EQ(back.nodes[1].index, 1);
  EXPECT_EQ(back.seed, header.seed);
  EXPECT_EQ(back.topology, header.topology);
  EXPECT_FALSE(to_json(header_of(2)).contains("topology"));
}

TEST(RunRecords, SayWhichKeyIsWrong) {
  struct Case {
    std::size_t record;  // of one_of_each()
    const char* key;
    Json value;  // discarded: the key is removed
    const char* message;
  };
  const Json removed(Json::value_t::discarded);
  const Case cases[] = {
      {1, "t", "samples",
       "t is not one of step, sample, loss, omission, confirm, resume, end: \"samples\""},
      {1, "t", removed, "t is missing"},
      {1, "node", -1, "node is not a whole number from 0: -1"},
      {1, "node", 1.5, "node is not a whole number from 0: 1.5"},
      {1, "node", 5000000000, "node is not a whole number from 0: 5000000000"},
      {1, "node", "zero", "node is not a whole number from 0: \"zero\""},
      {1, "step", removed, "step is missing"},
      {1, "peer", -2, "peer is not a whole number from 0: -2"},
      {8, "group", 3, "group is not an array: 3"},
      {8, "group", {2, -1}, "group is not an array of whole numbers from 0: [2,-1]"},
      {8,
       "group",
       {2, 5000000000},
       "group is not an array of whole numbers from 0: [2,5000000000]"},
      {8, "group", {2, 0.5}, "group is not an array of whole numbers from 0: [2,0.5]"},
      {8, "ends", {2}, "ends is not an array of [whole number from 0, text]: [2]"},
      {8, "ends", {{2, 1}}, "ends is not an array of [whole number from 0, text]: [[2,1]]"},
      {8,
       "ends",
       {{5000000000, "gpu0"}},
       "ends is not an array of [whole number from 0, text]: [[5000000000,\"gpu0\"]]"},
      {1, "status", "fine",
       "status: status \"fine\" is none of ok, failed, timeout, wrong, skipped"},
      {1, "values", 3, "values is not an array: 3"},
      {1, "values", {1, "x"}, "values is not an array of numbers and nulls: [1,\"x\"]"},
      {1, "measure_s", -0.5, "measure_s is not a number from 0: -0.5"},
      {0, "concurrent", 1, "concurrent is not true or false: 1"},
      {0, "method", 0, "method is not a whole number from 1: 0"},
      {0, "metrics", {7}, "metrics[0] is no object"},
      {0, "metrics", {{{"name", "x"}}}, "metrics[0].unit is missing"},
      {6, "time", {{"wall_s", "long"}}, "time.wall_s is not a number: \"long\""},
      {6, "waiting", removed, "waiting is missing"},
      {9, "compared", {{{"node", 1}}}, "compared[0].reference is missing"},
      {9, "pairs", removed, "pairs is missing"},
  };
  for (const Case& c : cases) {
    Json json = to_json(one_of_each()[c.record]);
    if (c.value.is_discarded()) {
      json.erase(c.key);
    } else {
      json[c.key] = c.value;
    }
    EXPECT_EQ(invalid_argument_of([&] { record_from_json(json); }), c.message);
  }
  EXPECT_EQ(invalid_argument_of([] { record_from_json(Json(3)); }), "the record is no object");
}

TEST(RunRecords, HeaderSaysWhichKeyIsWrong) {
  Json json = to_json(header_of(2));
  json["nodes"][1]["ranks"] = "none";
  EXPECT_EQ(invalid_argument_of([&] { run_header_from_json(json); }),
            "nodes[1].ranks is not an array: \"none\"");
  json = to_json(header_of(2));
  json["schema"] = "fleetbench-run/2.0";
  EXPECT_EQ(invalid_argument_of([&] { run_header_from_json(json); }),
            "schema is not \"fleetbench-run/1.\", which this build reads: \"fleetbench-run/2.0\"");
}

TEST(AddRecord, AcceptsWhatFitsTheRun) {
  RunData run;
  run.header = header_of(4);
  for (const Record& record :
       {Record(pairs_step(0)), Record(clean_end()), Record(OmissionRecord{"x", 3, ""})}) {
    add_record(run, record);
  }
  SampleRecord sample = link_sample();
  sample.step = 0;
  add_record(run, sample);
  EXPECT_EQ(run.steps.size(), 1U);
  EXPECT_EQ(run.samples.size(), 1U);
  EXPECT_EQ(run.omissions.size(), 1U);
  EXPECT_TRUE(run.end);
  add_record(run, confirm_record());
  sample.confirms = 0;
  add_record(run, sample);
  EXPECT_EQ(run.confirmations.size(), 1U);
  EXPECT_EQ(run.samples.back().confirms, 0);
}

TEST(AddRecord, RefusesWhatDoesNot) {
  const auto sample = [](const std::function<void(SampleRecord&)>& change) {
    SampleRecord record = sample_of(0, 0, 1, {1.0, 2.0});
    change(record);
    return Record(record);
  };
  struct Case {
    Record record;
    const char* message;
  };
  const Case cases[] = {
      {pairs_step(2), "step: 2 comes out of order, 1 is next"},
      {pairs_step(1), "id: \"mpi_pairs\" is the id of two steps"},
      {sample([](auto& s) { s.step = 1; }), "step: there is no step 1 yet"},
      {sample([](auto& s) { s.step = -1; }), "step: there is no step -1 yet"},
      {sample([](auto& s) { s.node = 4; }), "node: there is no node 4, the run has 4"},
      {sample([](auto& s) { s.peer = 9; }), "peer: there is no node 9, the run has 4"},
      {sample([](auto& s) { s.peer = 1; }), "peer: node 1 is its own peer"},
      {sample([](auto& s) { s.peer.reset(); }), "peer: is missing, and bandwidth is of a link"},
      {sample([](auto& s) {
         s.group = {1, 4};
       }),
       "group: there is no node 4, the run has 4"},
      {sample([](auto& s) {
         s.group = {1, 2, 1};
       }),
       "group: node 1 is in it twice"},
      {sample([](auto& s) {
         s.ends = {{1, "gpu0"}, {4, "gpu0"}};
       }),
       "ends: there is no node 4, the run has 4"},
      {sample([](auto& s) {
         s.group = {1, 2};
         s.ends = {{1, "gpu0"}, {3, "gpu0"}};
       }),
       "ends: node 3 took no part in this sample"},
      {sample([](auto& s) {
         s.peer = 3;
         s.ends = {{1, "gpu0"}, {2, "gpu0"}};
       }),
       "ends: node 2 took no part in this sample"},
      {sample([](auto& s) {
         s.group = {2, 3};
       }),
       "group: node 1, whose sample this is, is not in it"},
      {sample([](auto& s) { s.values.pop_back(); }),
       "values: 1 of them, a sample of step \"mpi_pairs\" that is ok has 2"},
      {sample([](auto& s) { s.status = Status::failed; }),
       "values: 2 of them, a sample of step \"mpi_pairs\" that is failed has 0"},
      {LossRecord{0, 7, 0, "", "", ""}, "node: there is no node 7, the run has 4"},
      {OmissionRecord{"", -1, ""}, "node: there is no node -1, the run has 4"},
      {sample([](auto& s) { s.confirms = 0; }), "confirms: there is no confirmation 0 yet"},
      {ConfirmRecord{1, 0, 8, {}, ""}, "confirm: 1 comes out of order, 0 is next"},
      {ConfirmRecord{0, 3, 8, {}, ""}, "step: there is no step 3 yet"},
      {confirm_beside(4, std::nullopt), "reference: there is no node 4, the run has 4"},
      {confirm_beside(1, 1), "reference_peer: node 1 is its own peer"},
  };
  RunData run;
  run.header = header_of(4);
  add_record(run, pairs_step(0));
  for (const Case& c : cases) {
    EXPECT_EQ(invalid_argument_of([&] { add_record(run, c.record); }), c.message);
  }
  EXPECT_TRUE(run.samples.empty());
}

}  // namespace
}  // namespace fleetbench
