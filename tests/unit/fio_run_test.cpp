#include "probes/fio/fio_run.hpp"

#include <gmock/gmock.h>

#include <chrono>

#include "probes/probe.hpp"
#include "tests/unit/fake_fio.hpp"

namespace fleetbench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// What run_fio throws, with its kind before it.
std::string failure_of(const std::string& script, double limit_s = 20) {
  const FakeFio fio(script);
  const TemporaryDirectory folder;
  try {
    run_fio({{"job", {"--rw=read"}}}, folder.path(), limit_s);
  } catch (const NotAvailable& error) {
    return std::string("skipped: ") + error.what();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr(folder.path().string()));
    return std::string("failed: ") + error.what();
  }
  return "";
}

TEST(FioRun, SectionsOfAGroupRunTogetherAndGroupsInTurn) {
  EXPECT_THAT(fio_command({{"a", {"--bs=1m"}}, {"a", {}}, {"b", {"--rw=read"}}}),
              ElementsAre("fio", "--output-format=json", "--eta=never", "--disk_util=0", "--name=a",
                          "--thread=1", "--group_reporting=1", "--bs=1m", "--name=a", "--thread=1",
                          "--group_reporting=1", "--name=b", "--stonewall", "--thread=1",
                          "--group_reporting=1", "--rw=read"));
}

TEST(FioRun, ThatThereIsNoFioIsNobodysFault) {
  EXPECT_THAT(failure_of(""),
              AllOf(HasSubstr("skipped: fio is not installed"), HasSubstr("apt install fio")));
}

TEST(FioRun, AnEngineThatIsNotThereIsNobodysFault) {
  EXPECT_THAT(failure_of("echo 'fio: engine libaio not loadable' >&2; exit 1"),
              AllOf(HasSubstr("skipped: "), HasSubstr("libaio not loadable"),
                    HasSubstr("\"engine\": \"psync\"")));
}

TEST(FioRun, ItsFailuresAreToldInItsOwnWords) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"kill -9 $$", "ended by signal 9 (Killed)"},
      {"kill -11 $$", "ended by signal 11"},
      {"exit 3", "exited with code 3"},
      {"echo 'fio: pid=1, err=13/file:x, error=Permission denied'; exit 1",
       "exited with code 1: fio: pid=1, err=13/file:x, error=Permission denied"},
      {"echo 'rubbish { } \"'", "its output cannot be read, line 1: there is no JSON of fio"},
      {"true", "its output cannot be read, line 1: fio wrote nothing (empty)"},
      {"echo warning; echo '{\"fio version\": \"fio-3\", \"jobs\": ['", "line 2: fio's JSON ends"},
      {"head -c 40000000 /dev/zero | tr '\\0' '{'", "its output cannot be read"},
  };
  for (const auto& [script, words] : table) {
    EXPECT_THAT(failure_of(script), AllOf(HasSubstr("failed: fio in "), HasSubstr(words)))
        << script;
  }
}

TEST(FioRun, AJobThatFailedIsAFailureWhateverItsFiguresAndExitCode) {
  const std::string file = FLEETBENCH_SOURCE_DIR "/tests/data/fio/no_space_left.txt";
  for (const char* code : {"0", "1"}) {
    EXPECT_THAT(
        failure_of("cat " + file + "; exit " + code),
        AllOf(HasSubstr("No space left on device (ENOSPC)"), HasSubstr("err=28/file:io_u.c:1876")));
  }
}

TEST(FioRun, OneThatHangsIsEndedAtItsDeadline) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(failure_of("sleep 60", 0.3), HasSubstr("did not end within"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(FioRun, WarningsAroundTheResultsAreKept) {
  const FakeFio fio("echo 'a note' >&2; cat " FLEETBENCH_SOURCE_DIR
                    "/tests/data/fio/braces_around_the_json.txt");
  const auto run = run_fio({{"x", {}}}, "/", 20);
  EXPECT_THAT(run.warnings, AllOf(HasSubstr("a note; "), HasSubstr("exceeds 32-bit tausworthe")));
  EXPECT_EQ(direction_of(run, "seq{read}", "read").bw_bytes_per_s, 536870912);
}

TEST(FioRun, ADirectionWithoutDataIsAFailureAndNoZero) {
  const FakeFio fio("cat " FLEETBENCH_SOURCE_DIR "/tests/data/fio/several_jobs.json");
  const auto run = run_fio({{"x", {}}}, "/", 20);
  EXPECT_THROW(direction_of(run, "scan", "write"), std::runtime_error);
  EXPECT_THROW(direction_of(run, "absent", "read"), std::runtime_error);
  EXPECT_GT(direction_of(run, "both", "mixed").iops, 0);
}

}  // namespace
}  // namespace fleetbench
