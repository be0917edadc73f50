#include "harness/record/run_directory.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "harness/record/journal_reader.hpp"
#include "harness/record/recorder.hpp"
#include "results-schema/check.hpp"
#include "temporary_directory.hpp"

namespace fleetbench::record {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(RunDirectory, IsCreatedWithTheFoldersAboveIt) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "a" / "b";
  EXPECT_EQ(RunDirectory::create(path).path(), path);
  EXPECT_TRUE(fs::is_directory(path));
}

TEST(RunDirectory, MayHoldMarksOfRanksThatCameUp) {
  const TemporaryDirectory directory;
  fs::create_directories(directory.path() / "run" / "hello");
  EXPECT_NO_THROW(RunDirectory::create(directory.path() / "run"));
}

TEST(RunDirectory, RefusesWhatItCannotUse) {
  const TemporaryDirectory directory;
  const auto run = directory.path() / "run";
  fs::create_directory(run);
  std::ofstream(run / "run.json") << "{}";
  EXPECT_THAT(error_of([&] { RunDirectory::create(run); }), HasSubstr("holds a run already"));
  const auto other = directory.path() / "other";
  fs::create_directory(other);
  std::ofstream(other / "thesis.tex") << "";
  EXPECT_THAT(error_of([&] { RunDirectory::create(other); }),
              HasSubstr("is not empty (it holds thesis.tex)"));
  EXPECT_THAT(error_of([&] { RunDirectory::create(other / "thesis.tex"); }),
              HasSubstr("a file of this name exists"));
  EXPECT_THAT(error_of([&] { RunDirectory::create(other / "thesis.tex" / "x"); }),
              HasSubstr("cannot create this folder"));
}

TEST(RunDirectory, RefusesAFolderThatIsNotWritable) {
  if (geteuid() == 0) {
    EXPECT_THAT(error_of([] { RunDirectory::create("/proc/fleetbench"); }),
                HasSubstr("cannot create this folder"));
    return;
  }
  EXPECT_THAT(error_of([] { RunDirectory::create("/"); }), HasSubstr("not writable"));
}

TEST(RunDirectory, OpensOnlyRuns) {
  const TemporaryDirectory directory;
  EXPECT_THAT(error_of([&] { RunDirectory::open(directory.path()); }), HasSubstr("no run.json"));
  EXPECT_THAT(error_of([&] { RunDirectory::open(directory.path() / "x"); }),
              HasSubstr("is not a folder"));
}

TEST(WriteWhole, ReplacesTheTextAndLeavesNoPart) {
  const TemporaryDirectory directory;
  write_whole(directory.path() / "f", "one");
  write_whole(directory.path() / "f", "two");
  EXPECT_EQ(read_whole(directory.path() / "f"), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), fs::directory_iterator()), 1);
}

// Somebody who may write into the folder puts something else in the place of what is written next.
TEST(WriteWhole, WritesThroughNoLinkAndWaitsForNoPipe) {
  const TemporaryDirectory directory;
  const auto victim = directory.path() / "victim";
  const auto file = directory.path() / "report.json";
  const auto part = directory.path() / "report.json.part";
  const std::function<void(const fs::path&)> traps[] = {
      [&](const fs::path& place) { fs::create_symlink(victim, place); },
      [&](const fs::path& place) { fs::create_hard_link(victim, place); },
      [&](const fs::path& place) { ASSERT_EQ(::mkfifo(place.c_str(), 0600), 0); },
      [&](const fs::path& place) { fs::create_symlink(directory.path() / "nowhere", place); }};
  for (const auto& trap : traps) {
    for (const auto& place : {file, part}) {
      write_whole(victim, "mine");
      fs::remove(file);
      trap(place);
      write_whole(file, "report");
      EXPECT_EQ(read_whole(victim), "mine");
      EXPECT_EQ(read_whole(file), "report");
      EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(file)));
      EXPECT_FALSE(fs::exists(directory.path() / "nowhere"));
      EXPECT_FALSE(fs::exists(fs::symlink_status(part)));
    }
  }
}

TEST(RunDirectory, WhyThereCanBeNoFolderIsTheReasonOfTheFirstThatIsMissing) {
  const TemporaryDirectory directory;
  const std::string long_name(300, 'x');
  EXPECT_THAT(error_of([&] { RunDirectory::create(directory.path() / long_name / "run"); }),
              HasSubstr("cannot create this folder: File name too long"));
}

TEST(RunDirectory, ALinkIsNoFolderOfARun) {
  const TemporaryDirectory directory;
  fs::create_directory(directory.path() / "elsewhere");
  fs::create_directory_symlink(directory.path() / "elsewhere", directory.path() / "hello");
  std::error_code error;
  create_own_folder(directory.path() / "hello", error);
  EXPECT_TRUE(error);
  create_own_folder(directory.path() / "attempt-1", error = {});
  create_own_folder(directory.path() / "attempt-1", error);
  EXPECT_FALSE(error) << error.message();
}

// A reader would wait for ever.
TEST(RunDirectory, APipeIsNoFileOfARun) {
  const TemporaryDirectory directory;
  const auto run = RunDirectory::create(directory.path() / "run");
  for (const fs::path& path : {run.journal(), run.run(), run.verdict()}) {
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  }
  EXPECT_THAT(error_of([&] { load_run(run); }), HasSubstr("run.json: is no file"));
  EXPECT_THAT(error_of([&] { load_verdict(run); }), HasSubstr("verdict: is no file"));
  EXPECT_THAT(error_of([&] { read_journal(run.journal(), [](Record&& /*record*/) {}); }),
              HasSubstr("journal.jsonl: is no file"));
}

TEST(RunDirectory, NobodyElseMayWriteWhateverTheUmask) {
  const TemporaryDirectory directory;
  const mode_t before = ::umask(0);
  const auto run = RunDirectory::create(directory.path() / "a" / "run");
  const JournalWriter journal(run.journal(), "r");
  write_report(run, "{}", "", Verdict::pass);
  ::umask(before);
  constexpr auto kWritable = fs::perms::group_write | fs::perms::others_write;
  int seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory.path())) {
    EXPECT_EQ(entry.status().permissions() & kWritable, fs::perms::none) << entry.path();
    ++seen;
  }
  EXPECT_GE(seen, 6);
}

TEST(JournalWriter, IsNotMadeThroughALink) {
  const TemporaryDirectory directory;
  const auto victim = directory.path() / "victim";
  fs::create_symlink(victim, directory.path() / "journal.jsonl");
  EXPECT_THROW(JournalWriter(directory.path() / "journal.jsonl", "r"), std::system_error);
  EXPECT_FALSE(fs::exists(victim));
}

TEST(ReadWhole, RefusesDevicesAndWhatIsTooLarge) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "f";
  write_whole(file, "12345");
  EXPECT_EQ(read_whole(file, 5), "12345");
  EXPECT_THAT(error_of([&] { read_whole(file, 4); }),
              HasSubstr("/f: has more than 4 bytes, and no more are read"));
  EXPECT_THAT(error_of([] { read_whole("/dev/zero"); }),
              testing::StrEq("/dev/zero: is a device; give a file"));
  // A file with holes takes no room on disk, and is refused before it takes any in memory.
  fs::resize_file(file, std::uintmax_t{1} << 40U);
  EXPECT_THAT(error_of([&] { read_whole(file); }), HasSubstr("has more than 2147483647 bytes"));
  const auto pipe = directory.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe) << "123456"; });
  EXPECT_THAT(error_of([&] { read_whole(pipe, 5); }), HasSubstr("has more than 5 bytes"));
  writer.join();
}

TEST(LoadVerdict, NoFileMeansInconclusive) {
  const TemporaryDirectory directory;
  std::ofstream(directory.path() / "run.json") << "{}";
  const auto run = RunDirectory::open(directory.path());
  EXPECT_EQ(load_verdict(run), Verdict::inconclusive);
  write_whole(run.verdict(), "FAIL\n");
  EXPECT_EQ(load_verdict(run), Verdict::fail);
  write_whole(run.verdict(), "fine\n");
  EXPECT_THAT(error_of([&] { load_verdict(run); }), HasSubstr("verdict"));
}

TEST(Recorder, AFullDiskLosesNothingOfTheRunInMemory) {
  const TemporaryDirectory directory;
  RunHeader header;
  header.run_id = "r";
  header.nodes = {{.index = 0, .name = "a", .boot_id = "", .ranks = {0}, .inventory = nullptr}};
  Recorder recorder(RunDirectory::create(directory.path() / "run"), header);
  recorder.add(StepRecord{
      .step = 0, .id = "s", .probe = "p", .metrics = {MetricInfo{.name = "m", .unit = "s"}}});
  // What is left of the disk ends here: the journal's descriptor is one that cannot be written.
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    if (fs::read_symlink(entry.path(), error).filename() == "journal.jsonl") {
      const int full = ::open("/dev/full", O_WRONLY);
      ::dup2(full, std::stoi(entry.path().filename().string()));
      ::close(full);
      break;
    }
  }
  recorder.add(SampleRecord{.values = {1.0}});
  recorder.sync();
  EXPECT_EQ(recorder.run().samples.size(), 1U);
  ASSERT_EQ(recorder.run().damage.size(), 1U);
  EXPECT_THAT(recorder.run().damage[0], HasSubstr("journal.jsonl: cannot write: No space left"));
}

}  // namespace
}  // namespace fleetbench::record
