// A run directory that was cut or damaged at any byte, and records that contradict each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/record/journal.hpp"
#include "harness/record/journal_order.hpp"
#include "harness/record/journal_reader.hpp"
#include "harness/record/recorder.hpp"
#include "harness/record/run_header_reader.hpp"
#include "results-schema/check.hpp"
#include "temporary_directory.hpp"
#include "tests/fuzz/seal_lines.hpp"

namespace fleetbench::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

RunHeader header() {
  RunHeader header;
  header.run_id = "r";
  header.nodes = {{0, "a", "b0", {0}, Json{{"cpu", {{"cores", 8}}}}}, {1, "b", "b1", {1}, nullptr}};
  return header;
}

StepRecord step(int number) {
  StepRecord step;
  step.step = number;
  step.id = "s" + std::to_string(number);
  step.probe = "p";
  step.params = Json::object();
  step.work = Json::object();
  step.metrics = {MetricInfo{.name = "m", .unit = "s"}};
  return step;
}

SampleRecord sample(int slot, int node = 0) {
  return {.slot = slot, .step = 0, .pass = slot, .node = node, .values = {1.5}};
}

LossRecord loss() {
  return {.rank = 1, .node = 1, .slot = 2, .step = "s0", .phase = "measure", .reason = "silent"};
}

// Of every kind of record one at least.
std::vector<Record> all_kinds() {
  return {step(0),
          OmissionRecord{"s0", 1, "late"},
          sample(0),
          sample(0, 1),
          sample(1),
          loss(),
          ConfirmRecord{.confirm = 0, .step = 0, .pairs = 1, .compared = {}, .reason = "no time"},
          ResumeRecord{"2026-05-04T03:02:01Z", 7},
          EndRecord{}};
}

std::string journal_of(const std::vector<Record>& records) {
  std::string text = sealed({{"t", "journal"}, {"schema", kJournalSchema}, {"run_id", "r"}}) + "\n";
  for (const Record& record : records) {
    text += sealed(to_json(record)) + "\n";
  }
  return text;
}

struct Read {
  std::vector<std::string> records;
  std::vector<std::string> damage;
};

Read read(const std::string& text) {
  Read result;
  RunData run;
  run.header = header();
  JournalOrder order;
  result.damage = read_journal(text, "j", [&](Record&& record) {
    order.admit(record);
    const std::string kept = to_json(record).dump();
    add_record(run, std::move(record));
    result.records.push_back(kept);
  });
  return result;
}

std::vector<std::string> damage_of(const std::vector<Record>& records) {
  return read(journal_of(records)).damage;
}

TEST(JournalDamage, CutAtAnyByteEveryWholeLineIsRead) {
  const std::string text = journal_of(all_kinds());
  const Read whole = read(text);
  ASSERT_EQ(whole.records.size(), all_kinds().size());
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const std::string part = text.substr(0, length);
    const auto lines = std::count(part.begin(), part.end(), '\n');
    const Read cut = read(part);
    const auto expected = static_cast<std::size_t>(std::max<long>(0, lines - 1));
    EXPECT_EQ(cut.records, std::vector(whole.records.begin(),
                                       whole.records.begin() + static_cast<long>(expected)));
    EXPECT_TRUE(cut.damage.empty()) << length << ": " << cut.damage.front();
  }
}

bool holds_all(const std::vector<std::string>& all, const std::vector<std::string>& some) {
  return std::ranges::all_of(
      some, [&all](const std::string& one) { return std::ranges::count(all, one) == 1; });
}

// Records that build upon a damaged one are damage too; all others are kept.
TEST(JournalDamage, AnyDamagedByteIsNamedWithItsLineAndTheRestIsRead) {
  const std::string text = journal_of(all_kinds());
  const Read whole = read(text);
  const std::string others("\0\n\"{\x80", 5);
  for (std::size_t at = 0; at + 1 < text.size(); ++at) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(at), '\n');
    for (const char byte : {static_cast<char>(text[at] ^ 1), others[at % others.size()]}) {
      if (byte == text[at]) {
        continue;
      }
      std::string damaged = text;
      damaged[at] = byte;
      const Read said = read(damaged);
      ASSERT_FALSE(said.damage.empty()) << at;
      EXPECT_THAT(said.damage.front(), StartsWith("j:" + std::to_string(line) + ": ")) << at;
      EXPECT_TRUE(holds_all(whole.records, said.records)) << at;
      if (line > 2) {  // all samples build upon the step on the second one
        EXPECT_GE(said.records.size() + 2, whole.records.size()) << at;
      }
    }
  }
}

TEST(JournalDamage, ContradictionsAreNamedWithTheirLineAndLeftOut) {
  EXPECT_THAT(damage_of({sample(0), step(0)}), ElementsAre("j:2: step: there is no step 0 yet"));
  EXPECT_THAT(damage_of({step(0), step(0)}), ElementsAre(StartsWith("j:3: step: 0 comes out of")));
  EXPECT_THAT(damage_of({step(0), sample(3), sample(3)}),
              ElementsAre("j:4: slot: 3 has this sample of node 0 already"));
  EXPECT_THAT(damage_of({step(0), sample(3), sample(2), sample(3, 1)}),
              ElementsAre("j:5: slot: 3 was over before"));
  EXPECT_THAT(damage_of({EndRecord{}, EndRecord{}}),
              ElementsAre("j:3: t: comes after the end of the run"));
  EXPECT_THAT(damage_of({step(0), EndRecord{}, sample(0)}),
              ElementsAre("j:4: t: comes after the end of the run"));
  EXPECT_THAT(damage_of({step(0), sample(0), sample(0, 1), sample(1)}), ElementsAre());
}

TEST(JournalDamage, WhatIsMeasuredAgainOrAfterAResumptionContradictsNothing) {
  EXPECT_THAT(damage_of({step(0), sample(3), sample(900'000), sample(4)}), ElementsAre());
  EXPECT_THAT(damage_of({step(0), sample(3), loss(), EndRecord{}, ResumeRecord{}, sample(3), loss(),
                         EndRecord{}}),
              ElementsAre());
}

// It ends the run, reads what there is, and adds what it saw.
TEST(JournalDamage, WhatTheGateAddsToAnInterruptedRunContradictsNothing) {
  const EndRecord interrupted{.interrupted = true, .reason = "", .time = {}, .waiting = {}};
  const Record of_gate = LossRecord{
      .rank = {}, .node = 1, .slot = {}, .step = "start", .phase = "launch", .reason = "daemon"};
  EXPECT_THAT(damage_of({step(0), sample(0), loss(), interrupted, of_gate, of_gate, interrupted}),
              ElementsAre());
}

// Of a whole journal of two runs each record but the resumption is used.
TEST(JournalDamage, ALostResumptionCostsNothingElse) {
  const EndRecord interrupted{.interrupted = true, .reason = "", .time = {}, .waiting = {}};
  const std::vector<Record> all = {step(0),   sample(0), interrupted, ResumeRecord{},
                                   sample(0), sample(1), sample(2),   EndRecord{}};
  std::string text = journal_of(all);
  text[text.find("\"resume\"") + 1] = 'R';
  const Read said = read(text);
  EXPECT_THAT(said.damage, ElementsAre(StartsWith("j:5: ")));
  EXPECT_EQ(said.records.size(), all.size() - 1);
}

TEST(JournalDamage, AFileOfNothingButFaultsIsToldInPart) {
  const Read said = read(journal_of({step(0)}) + std::string(5000, '\n'));
  EXPECT_EQ(said.damage.size(), 1001U);
  EXPECT_EQ(said.damage.back(), "j: and 4000 more damaged lines");
}

TEST(JournalDamage, RecordsOfANewerMinorVersionAreLeftOut) {
  const std::string text =
      sealed({{"t", "journal"}, {"schema", "fleetbench-journal/1.99"}, {"run_id", "r"}}) + "\n" +
      sealed({{"t", "weather"}, {"rain", true}}) + "\n" + sealed(to_json(Record(step(0)))) + "\n";
  const Read said = read(text);
  EXPECT_EQ(said.records.size(), 1U);
  EXPECT_THAT(said.damage, ElementsAre(StartsWith("j:2: t is not one of step, sample, loss")));
}

TEST(JournalDamage, NumbersBeyondReasonAreDamage) {
  const std::string good = to_json(Record(sample(0))).dump();
  const auto with = [&good](const std::string& key, const std::string& value) {
    const auto at = good.find("\"" + key + "\":") + key.size() + 3;
    return good.substr(0, at) + value + good.substr(good.find_first_of(",}", at));
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"pass", "1000000000"}, {"pass", "-1"},         {"slot", "1e9"},
      {"node", "1000000000"}, {"step", "2147483648"}, {"start_s", "1e999"},
      {"start_s", "-1"},      {"start_s", "NaN"},     {"measure_s", "Infinity"}};
  for (const auto& [key, value] : cases) {
    const std::string text = journal_of({step(0)}) + with_seals(with(key, value) + "\n");
    const Read said = read(text);
    EXPECT_EQ(said.records.size(), 1U) << key << value;
    EXPECT_THAT(said.damage, ElementsAre(StartsWith("j:3: "))) << key << value;
  }
}

std::string nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

// What both ways of reading a line take, and what neither does.
TEST(JournalDamage, TheDepthOfARecordIsLimited) {
  const std::string object = to_json(Record(sample(0))).dump();
  const auto deep = [&](int depth) {
    return read(journal_of({step(0)}) +
                with_seals("{\"detail\":" + nested(depth) + "," + object.substr(1) + "\n"));
  };
  EXPECT_THAT(deep(kMaxJsonDepth - 1).damage, ElementsAre());
  for (const int depth : {kMaxJsonDepth, kMaxJsonDepth + 1, 1000, 1025, 100'000, 1'000'000}) {
    const Read said = deep(depth);
    EXPECT_EQ(said.records.size(), 1U) << depth;
    EXPECT_THAT(said.damage, ElementsAre("j:3: nested more than 100 deep")) << depth;
  }
  const std::string params = "{\"t\":\"step\",\"params\":" + nested(100'000) + "}\n";
  EXPECT_THAT(read(journal_of({}) + with_seals(params)).damage,
              ElementsAre("j:2: nested more than 100 deep"));
}

TEST(JournalDamage, ALineWithoutEndTakesNoMoreMemoryThanTheLongestRecord) {
  const std::string endless(std::size_t{70} << 20U, 'x');
  const std::string after = sealed(to_json(Record(step(0)))) + "\n";
  EXPECT_THAT(read(journal_of({}) + endless).damage,
              ElementsAre("j:2: a line of more than 64 MiB is no record"));
  const Read said = read(journal_of({}) + endless + "\n" + after);
  EXPECT_THAT(said.damage, ElementsAre("j:2: a line of more than 64 MiB is no record"));
  EXPECT_EQ(said.records.size(), 1U);
}

TEST(JournalDamage, ManyStepsAreNoRun) {
  std::vector<Record> records;
  for (int i = 0; i < 10'002; ++i) {
    records.emplace_back(step(i));
  }
  EXPECT_THAT(damage_of(records).front(), HasSubstr("step: there are 10000 already"));
}

TEST(JournalDamage, NobodyPlansAMillionPairsToConfirm) {
  const ConfirmRecord confirm{
      .confirm = 0, .step = 0, .pairs = 1'000'000'000, .compared = {}, .reason = ""};
  EXPECT_THAT(damage_of({step(0), confirm}),
              ElementsAre("j:3: pairs: 1000000000 is not from 0 to 1000"));
}

TEST(JournalDamage, NamesAsLongAsAFileAreNone) {
  StepRecord with_long_metric = step(0);
  with_long_metric.metrics[0].name = std::string(100'000, 'm');
  EXPECT_THAT(damage_of({with_long_metric}),
              ElementsAre("j:2: metrics: a name of 100000 bytes; at most 512 are read"));
  SampleRecord of_long_device = sample(0);
  of_long_device.device = std::string(513, 'd');
  EXPECT_THAT(damage_of({step(0), of_long_device}),
              ElementsAre("j:3: device: a name of 513 bytes; at most 512 are read"));
}

TEST(RunDamage, CutAtAnyByteRunJsonIsAnErrorThatNamesIt) {
  const TemporaryDirectory directory;
  const Recorder recorder(RunDirectory::create(directory.path() / "run"), header());
  const std::string text = read_whole(recorder.directory().run());
  for (std::size_t length = 0; length + 2 < text.size(); ++length) {
    try {
      read_run_header(text.substr(0, length), "run.json");
      FAIL() << "cut at " << length << " it was read";
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), StartsWith("run.json:")) << length;
    }
  }
}

TEST(RunDamage, AnyDamagedByteOfRunJsonIsReadOrRefused) {
  const TemporaryDirectory directory;
  const Recorder recorder(RunDirectory::create(directory.path() / "run"), header());
  const std::string text = read_whole(recorder.directory().run());
  int refused = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char byte : {static_cast<char>(text[at] ^ 1), '\0', '\n', '"', '{', ']', '\xff'}) {
      std::string damaged = text;
      damaged[at] = byte;
      try {
        to_json(read_run_header(damaged, "run.json")).dump(-1, ' ', true);
      } catch (const InputError& error) {
        EXPECT_THAT(error.what(), StartsWith("run.json"));
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, static_cast<int>(text.size()));
}

TEST(RunDamage, DepthAndNamesOfRunJsonAreLimited) {
  Json json = to_json(header());
  const std::string text = json.dump();
  const auto said = [](const std::string& damaged) -> std::string {
    try {
      read_run_header(damaged, "run.json");
      return "nothing";
    } catch (const InputError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(said(text), "nothing");
  const auto at = text.find("{\"cores\"");
  for (const int depth : {kMaxJsonDepth + 1, 1'000, 1'100, 100'000}) {
    std::string deep = text;
    deep.replace(at, std::string("{\"cores\":8}").size(), nested(depth));
    EXPECT_THAT(said(deep), HasSubstr("nested more than 100 deep")) << depth;
  }
  std::string deep_scenario = text;
  const std::string key = "\"scenario\":";
  deep_scenario.replace(text.find(key), key.size() + 4, key + nested(100'000));
  EXPECT_THAT(said(deep_scenario), HasSubstr("nested more than 100 deep"));
  json["nodes"][1]["name"] = std::string(100'000, 'n');
  EXPECT_THAT(said(json.dump()),
              HasSubstr("nodes[1].name is not a name of at most 512 bytes: \"nnn"));
}

}  // namespace
}  // namespace fleetbench::record
