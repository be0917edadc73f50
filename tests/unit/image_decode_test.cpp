// The probe as the worker drives it.
#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "probes/registry.hpp"
#include "results-schema/check.hpp"
#include "tests/unit/temporary_directory.hpp"

namespace fleetbench {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ImageDecodeProbe : public testing::Test {
 protected:
  Json params(Json changes) const {
    Json given{{"directory", directory_.path().string()},
               {"images", 16},
               {"batch", 2},
               {"crop", 32},
               {"seconds", 0.05},
               {"share_of_free", 0.5}};
    given.update(changes);
    return with_defaults(given, probe_->info().params_schema);
  }
  static Json work() { return {{"batches_per_worker", 1}, {"workers", 2}}; }

  // The only folder below the test's.
  fs::path scratch() const { return fs::directory_iterator(directory_.path())->path(); }

  std::optional<double> value_of(const Json& given, const Measurement& measurement,
                                 const std::string& name) const {
    const auto metrics = probe_->metrics(given);
    EXPECT_EQ(metrics.size(), measurement.values.size());
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      if (metrics[i].name == name) {
        return measurement.values[i];
      }
    }
    ADD_FAILURE() << "no metric " << name;
    return std::nullopt;
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Probe> probe_ = make_image_decode();
};

TEST_F(ImageDecodeProbe, MeasuresEachFormOnAllCoresAndOneWorker) {
  const Json given = params(Json::object());
  const Json fixed = probe_->calibrate(given);
  EXPECT_GE(fixed.at("batches_per_worker"), 1);
  EXPECT_GE(fixed.at("workers"), 1);
  const auto measurement = probe_->prepare(given, fixed)->measure();
  check_values(measurement);
  for (const char* who : {"files", "tar", "tar_zst", "one_worker"}) {
    EXPECT_GT(value_of(given, measurement, std::string(who) + ".images_per_s"), 0) << who;
    EXPECT_EQ(measurement.detail.at("windows").at(who).size(), 5U);
  }
  for (const char* stage :
       {"files.read", "tar.read", "tar_zst.read", "decode", "crop", "normalise", "collate"}) {
    EXPECT_GT(value_of(given, measurement, stage), 0) << stage;
  }
  EXPECT_LE(value_of(given, measurement, "idle_share").value(), 1);
}

TEST_F(ImageDecodeProbe, JudgesRatesOnly) {
  const Json all = params({{"sweep", true}, {"numa", true}, {"step_ms", 1}});
  std::vector<std::string> judged;
  for (const auto& metric : probe_->metrics(all)) {
    if (metric.judged) {
      judged.push_back(metric.name);
    }
    EXPECT_FALSE(metric.description.empty());
    EXPECT_FALSE(metric.next_check.empty());
  }
  EXPECT_THAT(judged, testing::ElementsAre("files.images_per_s", "tar.images_per_s",
                                           "tar_zst.images_per_s", "one_worker.images_per_s"));
}

TEST_F(ImageDecodeProbe, MeasuresWhatElseIsAskedFor) {
  const Json given = params({{"forms", {"tar"}},
                             {"workers", 3},
                             {"sweep", true},
                             {"numa", true},
                             {"step_ms", 1},
                             {"steps", 5},
                             {"cold", true}});
  const auto measurement = probe_->prepare(given, work())->measure();
  check_values(measurement);
  const auto saturation = value_of(given, measurement, "saturation_workers");
  EXPECT_GE(saturation, 1);
  EXPECT_LE(saturation, 3);
  EXPECT_EQ(measurement.detail.at("sweep").size(), 3U);  // 1, 2, 3
  EXPECT_GE(value_of(given, measurement, "wait_p99"), value_of(given, measurement, "wait_p50"));
  EXPECT_EQ(value_of(given, measurement, "near.images_per_s").has_value(),
            value_of(given, measurement, "far.images_per_s").has_value());
}

TEST_F(ImageDecodeProbe, ReadsNoImageTwiceFromAColdCacheWhereTheSetSuffices) {
  const Json given = params(
      {{"forms", {"files"}}, {"images", 32}, {"workers", 2}, {"cold", true}, {"seconds", 9}});
  // 16 batches: one to start with and five windows for each worker are 12.
  EXPECT_EQ(probe_->calibrate(given).at("batches_per_worker"), 1);
}

TEST_F(ImageDecodeProbe, KeepsItsSetFromSlotToSlot) {
  const Json given = params({{"forms", {"files"}}});
  probe_->prepare(given, work());
  const fs::path folder = scratch();
  probe_->prepare(given, work());
  EXPECT_EQ(scratch(), folder);
  const Json other = params({{"forms", {"tar"}}});
  probe_->prepare(other, work());
  EXPECT_NE(scratch(), folder);
  EXPECT_FALSE(fs::exists(folder));
  probe_.reset();
  EXPECT_TRUE(fs::is_empty(directory_.path()));
}

TEST_F(ImageDecodeProbe, TellsOfDamageWhileItMeasuresAndRecovers) {
  const struct {
    const char* form;
    std::function<void(const fs::path&)> damage;
    const char* says;
  } cases[] = {
      {"files", [](const fs::path& f) { fs::resize_file(f / "files/000004.jpg", 999); },
       "files/000004.jpg"},
      {"files", [](const fs::path& f) { fs::resize_file(f / "files/000007.png", 999); },
       "files/000007.png"},
      {"tar", [](const fs::path& f) { fs::resize_file(f / "tar/00000.tar", 99999); },
       "tar/00000.tar"},
      {"files", [](const fs::path& f) { fs::remove_all(f); }, "No such file or directory"},
  };
  for (const auto& c : cases) {
    const Json given = params({{"forms", {c.form}}});
    const auto prepared = probe_->prepare(given, {{"batches_per_worker", 4}, {"workers", 2}});
    c.damage(scratch());
    try {
      prepared->measure();
      ADD_FAILURE() << c.says;
    } catch (const std::exception& error) {
      EXPECT_THAT(error.what(), HasSubstr(c.says));
    }
    EXPECT_THROW(probe_->prepare(given, work()), std::exception) << c.says;
    EXPECT_NO_THROW(probe_->prepare(given, work())->measure()) << c.says;
  }
  probe_.reset();
  EXPECT_TRUE(fs::is_empty(directory_.path()));
}

TEST_F(ImageDecodeProbe, FailsWhereThereIsNoFolder) {
  const Json given = params({{"directory", "/nowhere"}});
  try {
    probe_->prepare(given, work());
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("/nowhere: No such file or directory"));
  }
}

TEST_F(ImageDecodeProbe, ItsParametersAreChecked) {
  const auto schema = probe_->info().params_schema;
  EXPECT_TRUE(check_against(Json::object(), schema).empty());
  for (const char* bad :
       {R"({"images": 17})", R"({"images": 0})", R"({"forms": []})", R"({"forms": ["zip"]})",
        R"({"forms": ["tar", "tar"]})", R"({"png_share": 1.5})", R"({"batch": 0})",
        R"({"workers": -1})", R"({"share_of_free": 0})", R"({"step_ms": -1})", R"({"cold": 1})",
        R"({"crop": 4})", R"({"prefetch": 0})", R"({"size": 3})"}) {
    EXPECT_EQ(check_against(Json::parse(bad), schema).size(), 1U) << bad;
  }
}

}  // namespace
}  // namespace fleetbench
