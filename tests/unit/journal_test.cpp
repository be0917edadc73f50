#include "harness/record/journal.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>

#include "harness/record/journal_reader.hpp"
#include "harness/record/run_directory.hpp"
#include "results-schema/check.hpp"
#include "temporary_directory.hpp"

namespace fleetbench::record {
namespace {

using testing::HasSubstr;

SampleRecord sample(int slot) {
  return {.slot = slot,
          .step = 0,
          .pass = 1,
          .node = 2,
          .peer = std::nullopt,
          .ends = {{2, "gpu1"}, {0, "gpu1"}},
          .status = Status::ok,
          .reason = "",
          .values = {1.5, std::nullopt},
          .start_s = 1,
          .prepare_s = 0.5,
          .measure_s = 0.25,
          .detail = {{"text", "two\nlines"}}};
}

std::string journal_text(int samples) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "journal.jsonl";
  {
    JournalWriter writer(path, "run");
    for (int slot = 0; slot < samples; ++slot) {
      writer.append(sample(slot));
    }
    writer.sync();
  }
  return read_whole(path);
}

std::vector<int> slots_in(const std::string& text, std::vector<std::string>& damage) {
  std::vector<int> slots;
  damage = read_journal(text, "j", [&](const Record& record) {
    slots.push_back(std::get<SampleRecord>(record).slot);
  });
  return slots;
}

TEST(Journal, WhatIsWrittenIsReadAgain) {
  std::vector<std::string> damage;
  EXPECT_THAT(slots_in(journal_text(3), damage), testing::ElementsAre(0, 1, 2));
  EXPECT_TRUE(damage.empty());
}

TEST(Journal, ANewerSchemaIsRefused) {
  std::vector<std::string> damage;
  const auto text = sealed({{"t", "journal"}, {"schema", "fleetbench-journal/2.0"}}) + "\n";
  slots_in(text, damage);
  ASSERT_EQ(damage.size(), 1U);
  EXPECT_THAT(damage[0], HasSubstr("this program reads fleetbench-journal/1"));
}

// Lines of all kinds of samples, as this program writes them and as nobody does.
std::vector<std::string> sample_lines() {
  Json full = to_json(Record(sample(7)));
  full["device"] = "gpu\u00e9\n0";
  full["peer"] = 4;
  full["confirms"] = 12;
  full["group"] = {2, 9};
  full["reason"] = "none";
  full["values"] = {0, -3, 1.5e300, 5e-324, 18446744073709551615U, nullptr};
  full["detail"] = {{"text", "\"\\\u0001"}, {"n", {1, -2, 0.5, true, nullptr, Json::object()}}};
  std::vector<std::string> lines = {full.dump(), to_json(Record(sample(0))).dump()};
  for (const char* key : {"peer", "device", "confirms", "group", "reason", "detail"}) {
    Json json = full;
    json[key] = nullptr;
    lines.push_back(json.dump());
  }
  for (const auto& item : full.items()) {
    for (const Json& odd : {Json(), Json("odd"), Json(-1), Json(1.5), Json(5000000000),
                            Json::array({-1}), Json::array({"x"}), Json::object(), Json(true)}) {
      Json json = full;
      json[item.key()] = odd;
      lines.push_back(json.dump());
    }
    Json json = full;
    json.erase(item.key());
    lines.push_back(json.dump());
  }
  lines.push_back(R"({"t":"sample","of_a_later_version":1,)" + full.dump().substr(1));
  lines.push_back(R"({"slot":"first","slot":3,)" + full.dump().substr(1));
  lines.push_back(full.dump().substr(0, full.dump().size() - 1) + R"(,"slot":99,"values":[1]})");
  lines.push_back(R"({"slot":1e999,)" + full.dump().substr(1));
  lines.push_back(R"({"values":[1e999],)" + full.dump().substr(1));
  lines.push_back("{\"device\":\"\xff\"," + full.dump().substr(1));
  lines.push_back("[1]");
  lines.push_back("{\"t\":\"sample\"");
  return lines;
}

std::string sealed_text(const std::string& object) {
  std::string line = object.substr(0, object.size() - 1);
  return fmt::format(
      "{},\"crc\":\"{:08x}\"}}\n", line,
      crc32(0, reinterpret_cast<const Bytef*>(line.data()), static_cast<uInt>(line.size())));
}

std::string head() {
  return sealed({{"t", "journal"}, {"schema", kJournalSchema}, {"run_id", "r"}}) + "\n";
}

// What a reader that knows one way only would say.
std::string said_of(const std::string& line) {
  try {
    return to_json(record_from_json(opened(line))).dump();
  } catch (const std::exception& error) {
    return error.what();
  }
}

TEST(Journal, EverySampleIsReadAsTheSlowReaderReadsIt) {
  for (const std::string& object : sample_lines()) {
    const std::string text = sealed_text(object);
    std::vector<std::string> said;
    const auto damage = read_journal(
        head() + text, "j", [&](const Record& record) { said.push_back(to_json(record).dump()); });
    for (const std::string& line : damage) {
      said.push_back(line.substr(std::string("j:2: ").size()));
    }
    EXPECT_EQ(said, std::vector{said_of(text.substr(0, text.size() - 1))}) << object;
  }
}

TEST(Journal, BlocksOfAnySizeGiveTheSame) {
  auto text = head();
  for (const std::string& object : sample_lines()) {
    text += sealed_text(object);
  }
  text += "no end";
  const auto read = [&text](std::size_t block) {
    std::vector<std::string> said;
    auto damage = read_journal(
        text, "j",
        [&](const Record& record) {
          said.push_back(to_json(record).dump());
          if (said.size() % 7 == 0) {
            throw std::invalid_argument("a seventh");
          }
        },
        block);
    EXPECT_GT(said.size(), 10U);
    said.insert(said.end(), damage.begin(), damage.end());
    return said;
  };
  const auto whole = read(text.size());
  EXPECT_THAT(whole, testing::Contains(testing::StartsWith("j:8: a seventh")));
  for (const std::size_t block : {1U, 100U, 1000U, 5000U}) {
    EXPECT_EQ(read(block), whole) << block;
  }
}

TEST(Journal, AFileIsReadAsItsTextIs) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "journal.jsonl";
  write_whole(path, journal_text(3) + sealed_text("{\"t\":\"what\"}"));
  std::vector<int> slots;
  const auto damage = read_journal(
      path, [&](const Record& record) { slots.push_back(std::get<SampleRecord>(record).slot); });
  EXPECT_THAT(slots, testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(damage, testing::ElementsAre(testing::StartsWith(path.string() + ":5: t is not")));
  EXPECT_THROW(read_journal(directory.path() / "none", [](const Record&) {}), InputError);
}

TEST(Journal, TwoRunsNeverWriteIntoOneFile) {
  const TemporaryDirectory directory;
  const JournalWriter first(directory.path() / "journal.jsonl", "a");
  EXPECT_THROW(JournalWriter(directory.path() / "journal.jsonl", "b"), std::system_error);
}

// At every byte after its first line: what was whole before is there, and what is appended
// afterwards too.
TEST(Journal, OneThatWasCutGoesOn) {
  const std::string whole = journal_text(2);
  const TemporaryDirectory directory;
  const auto path = directory.path() / "journal.jsonl";
  for (std::size_t length = whole.find('\n'); length <= whole.size(); ++length) {
    write_whole(path, whole.substr(0, length), ToDisk::later);
    std::vector<std::string> damage;
    const bool whole_but_for_its_end = length < whole.size() && whole[length] == '\n';
    const auto before = slots_in(whole.substr(0, length + (whole_but_for_its_end ? 1 : 0)), damage);
    JournalWriter::reopen(path)->append(sample(7));
    auto expected = before;
    expected.push_back(7);
    EXPECT_EQ(slots_in(read_whole(path), damage), expected) << "cut at byte " << length;
  }
}

}  // namespace
}  // namespace fleetbench::record
