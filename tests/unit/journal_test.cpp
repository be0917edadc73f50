#include "harness/record/journal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/record/run_directory.hpp"
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

TEST(Journal, CutAtAnyByteItKeepsEveryWholeLine) {
  const auto text = journal_text(3);
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const auto part = text.substr(0, length);
    const auto lines = std::count(part.begin(), part.end(), '\n');
    std::vector<std::string> damage;
    EXPECT_EQ(slots_in(part, damage).size(), static_cast<std::size_t>(std::max(0L, lines - 1)));
    EXPECT_TRUE(damage.empty()) << "a torn last line is normal: " << damage.front();
  }
}

TEST(Journal, AnyChangedByteIsNoticedAndNamedWithItsLine) {
  const auto text = journal_text(3);
  const auto second_line = text.find('\n') + 1;
  const auto third_line = text.find('\n', second_line) + 1;
  for (std::size_t at = second_line; at < third_line - 1; ++at) {
    auto damaged = text;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    if (damaged[at] == '\n') {
      continue;
    }
    std::vector<std::string> damage;
    EXPECT_EQ(slots_in(damaged, damage).size(), 2U) << "byte " << at;
    ASSERT_EQ(damage.size(), 1U);
    EXPECT_THAT(damage[0], HasSubstr("j:2: "));
  }
}

TEST(Journal, ANewerSchemaIsRefused) {
  std::vector<std::string> damage;
  const auto text = sealed({{"t", "journal"}, {"schema", "fleetbench-journal/2.0"}}) + "\n";
  slots_in(text, damage);
  ASSERT_EQ(damage.size(), 1U);
  EXPECT_THAT(damage[0], HasSubstr("this program reads fleetbench-journal/1"));
}

TEST(Journal, TwoRunsNeverWriteIntoOneFile) {
  const TemporaryDirectory directory;
  const JournalWriter first(directory.path() / "journal.jsonl", "a");
  EXPECT_THROW(JournalWriter(directory.path() / "journal.jsonl", "b"), std::system_error);
}

}  // namespace
}  // namespace fleetbench::record
