#include "harness/record/run_directory.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

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
