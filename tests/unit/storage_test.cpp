#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "probes/registry.hpp"
#include "probes/support/program.hpp"
#include "probes/support/scratch.hpp"
#include "results-schema/check.hpp"
#include "tests/unit/fake_fio.hpp"

namespace fleetbench {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

// Sizes that a slow disk manages too.
Json tiny(const fs::path& folder, const Json& changes) {
  Json params = {{"directory", folder.string()},
                 {"repetitions", 2},
                 {"share_of_free", 0.9},
                 {"sequential_bytes", 8 << 20},
                 {"random_bytes", 1 << 20},
                 {"random_operations", 200},
                 {"queue_depth", 4},
                 {"shards", 4},
                 {"shard_bytes", 4 << 20},
                 {"shard_readers", 2},
                 {"checkpoint_bytes", 4 << 20},
                 {"small_files", 40},
                 {"small_file_threads", 2},
                 {"files_per_folder", 7}};
  params.update(changes);
  return with_defaults(params, make_storage()->info().params_schema);
}

struct Attempt {
  std::string failure;  // "skipped: …" or "failed: …", empty where it was measured
  Measurement measurement;
};

Attempt attempt(const Json& params) {
  const auto probe = make_storage();
  try {
    return {"", probe->prepare(params, probe->calibrate(params))->measure()};
  } catch (const NotAvailable& error) {
    return {std::string("skipped: ") + error.what(), {}};
  } catch (const std::exception& error) {
    return {std::string("failed: ") + error.what(), {}};
  }
}

std::map<std::string, std::optional<double>> by_name(const Json& params,
                                                     const Measurement& measurement) {
  const auto metrics = make_storage()->metrics(params);
  EXPECT_EQ(metrics.size(), measurement.values.size());
  std::map<std::string, std::optional<double>> values;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    values[metrics[i].name] = measurement.values.at(i);
  }
  return values;
}

class Storage : public testing::Test {
 protected:
  Storage() : folder_(default_scratch_parent()) {}
  ~Storage() override { EXPECT_TRUE(fs::is_empty(folder_.path())) << "something is left behind"; }
  const fs::path& folder() const { return folder_.path(); }

 private:
  Scratch folder_;
};

TEST_F(Storage, ItsParametersAreChecked) {
  const auto schema = make_storage()->info().params_schema;
  EXPECT_TRUE(check_against(Json::object(), schema).empty());
  EXPECT_TRUE(check_against(with_defaults(Json::object(), schema), schema).empty());
  for (const char* bad :
       {R"({"profiles": []})", R"({"profiles": ["other"]})", R"({"shared": 1})",
        R"({"share_of_free": 0})", R"({"share_of_free": 1})", R"({"repetitions": 0})",
        R"({"queue_depth": 0})", R"({"engine": "io_uring"})", R"({"small_files": 1.5})",
        R"({"sequential_bytes": 1})", R"({"fio_limit_s": 0})", R"({"directory": 1})",
        R"({"size": 3})"}) {
    EXPECT_EQ(check_against(Json::parse(bad), schema).size(), 1U) << bad;
  }
}

TEST_F(Storage, CalibrationSaysWhatANodeDoesAndTouchesNothing) {
  const Json params = tiny("/nowhere", {{"profiles", {"sequential", "small_files"}}});
  const Json work = make_storage()->calibrate(params);
  EXPECT_EQ(work.at("operations"), 2 * 8 + 2 * 40 * 5);
  EXPECT_EQ(work.at("bytes"), 2.0 * (8 << 20) + 2 * 40 * 2 * 16384);
}

TEST_F(Storage, SmallFilesAreMeasuredWithoutFio) {
  const FakeFio none("");
  const Json params = tiny(folder(), {{"profiles", {"small_files"}}});
  const Attempt done = attempt(params);
  EXPECT_EQ(done.failure, "");
  const auto values = by_name(params, done.measurement);
  EXPECT_EQ(values.size(), 5U);
  for (const auto& [name, value] : values) {
    EXPECT_GT(value.value_or(0), 0) << name;
  }
  const Json& detail = done.measurement.detail;
  EXPECT_EQ(detail.at("small_files").at("limit"), "metadata");
  EXPECT_EQ(detail.at("small_files").at("seconds").at("create").size(), 2U);
  EXPECT_TRUE(detail.at("volume").at("fs_type").is_string());
  EXPECT_GT(detail.at("volume").at("free_bytes"), 0);
}

TEST_F(Storage, WithoutFioTheOthersAreSkipped) {
  const FakeFio none("");
  EXPECT_THAT(attempt(tiny(folder(), Json::object())).failure,
              AllOf(HasSubstr("skipped: fio is not installed"), HasSubstr("apt install fio")));
}

TEST_F(Storage, AFioThatFailsOrHangsIsAFailureAndLeavesNothing) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"kill -9 $$", "ended by signal 9"},
      {"cat " FLEETBENCH_SOURCE_DIR "/tests/data/fio/no_space_left.txt; exit 1",
       "No space left on device (ENOSPC)"},
      {"echo rubbish", "its output cannot be read"},
      {"sleep 60", "did not end within"},
      {"rm -r $PWD; echo 'fio: gone' >&2; exit 1", "fio: gone"},
  };
  for (const auto& [script, words] : table) {
    const FakeFio fio(script);
    const auto params =
        tiny(folder(), {{"profiles", {"checkpoint"}}, {"fio_limit_s", 0.5}, {"repetitions", 1}});
    const std::string failure = attempt(params).failure;
    EXPECT_THAT(failure,
                AllOf(HasSubstr("failed: "), HasSubstr(words), HasSubstr(folder().string())));
    EXPECT_TRUE(fs::is_empty(folder())) << script;
  }
}

TEST_F(Storage, AFolderThatIsNoneIsAFailureThatNamesIt) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"/nowhere/at/all", "/nowhere/at/all: No such file"},
      {"/dev/null", "/dev/null: Not a directory"},
      {"/proc", "/proc: "},
  };
  for (const auto& [path, words] : table) {
    EXPECT_THAT(attempt(tiny(path, {{"profiles", {"small_files"}}})).failure,
                AllOf(HasSubstr("failed: scratch in "), HasSubstr(words)));
  }
}

TEST_F(Storage, TakesOnlyAShareOfWhatIsFree) {
  EXPECT_THAT(
      attempt(tiny(folder(), {{"profiles", {"small_files"}}, {"share_of_free", 1e-9}})).failure,
      HasSubstr("free some space"));
}

TEST_F(Storage, AFolderThatIsRemovedMeanwhileIsAFailureThatNamesIt) {
  const auto probe = make_storage();
  const Json params = tiny(folder(), {{"profiles", {"small_files"}}});
  const auto prepared = probe->prepare(params, Json::object());
  for (const auto& entry : fs::directory_iterator(folder())) {
    fs::remove_all(entry.path());
  }
  try {
    prepared->measure();
    FAIL() << "there was no folder";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr(folder().string()), HasSubstr("was removed")));
  }
}

TEST_F(Storage, EveryProfileIsMeasuredByARealFio) {
  if (!find_program("fio")) {
    GTEST_SKIP() << "fio is not installed";
  }
  const Json params = tiny(
      folder(), {{"profiles", {"sequential", "random_read", "small_files", "shards", "checkpoint"}},
                 {"engine", "psync"}});
  const Attempt done = attempt(params);
  ASSERT_EQ(done.failure, "");
  check_values(done.measurement);
  const auto values = by_name(params, done.measurement);
  const Json& detail = done.measurement.detail;
  std::vector<std::string> expected = {"checkpoint.write", "shards.warm", "small_files.create"};
  if (detail.at("volume").at("direct_io")) {
    for (const char* name : {"sequential.read", "random_read.iops", "random_read.p50",
                             "random_read.p99_9", "small_to_sequential"}) {
      expected.emplace_back(name);
    }
    EXPECT_FALSE(detail.at("sequential").at("fio").at("version").get<std::string>().empty());
  }
  for (const std::string& name : expected) {
    EXPECT_GT(values.at(name).value_or(0), 0) << name;
  }
  EXPECT_TRUE(detail.at("checkpoint").at("limit").is_string());
}

TEST_F(Storage, MetricsThatAreJudgedAreFew) {
  const Json params =
      tiny(folder(),
           {{"profiles", {"sequential", "random_read", "small_files", "shards", "checkpoint"}}});
  std::vector<std::string> judged;
  for (const MetricInfo& metric : make_storage()->metrics(params)) {
    EXPECT_FALSE(metric.next_check.empty()) << metric.name;
    if (metric.judged) {
      judged.push_back(metric.name);
    }
  }
  EXPECT_THAT(judged, testing::UnorderedElementsAre("sequential.read", "random_read.iops",
                                                    "small_files.create", "small_files.read",
                                                    "shards.cold", "checkpoint.write"));
}

}  // namespace
}  // namespace fleetbench
