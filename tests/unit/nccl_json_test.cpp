#include "harness/record/nccl_json.hpp"

#include <gmock/gmock.h>

#include "harness/record/nccl_tests.hpp"
#include "tests/unit/problem_marks.hpp"

namespace fleetbench::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Json figure(double busbw, Json wrong) {
  return {{"time", 1048.576 / busbw * 0.5},
          {"alg_bw", 2 * busbw},
          {"bus_bw", busbw},
          {"nwrong", std::move(wrong)}};
}

Json device(int rank, const char* node, const char* address) {
  return {{"rank", rank},
          {"group", 0},
          {"pid", 61},
          {"hostname", node},
          {"device", 0},
          {"device_hex", address},
          {"device_info", "NVIDIA H100"}};
}

// As src/util.cu of nccl-tests 2.17 writes it: booleans and roots are texts.
Json document() {
  return {{"version", 2},
          {"start_time", "2026-03-01 10:00:00"},
          {"args", {"/opt/nccl-tests/build/alltoall_perf", "-b", "1M", "-J", "out.json"}},
          {"env", {"PATH=/usr/bin"}},
          {"nccl_version", 22807},
          {"config",
           {{"nthreads", 1},
            {"ngpus", 1},
            {"devices", {device(0, "a", "0000:1b:00"), device(1, "b", "0000:9d:00")}}}},
          {"results",
           {{{"size", 1048576},
             {"count", 131072},
             {"type", "float"},
             {"redop", "none"},
             {"root", "    -1"},
             {"out_of_place", figure(10, 0.0)},
             {"in_place", figure(12, nullptr)}}}},
          {"out_of_bounds", {{"count", 0}, {"okay", "true"}}},
          {"average_bus_bandwidth", {{"bandwidth", 11.0}, {"okay", "unchecked"}}},
          {"errors", {""}},
          {"end_time", "2026-03-01 10:00:09"}};
}

ImportedSamples read(const std::string& text) {
  EXPECT_TRUE(looks_like_nccl_tests(text));
  return read_nccl_tests({{"n.json", text}});
}

TEST(NcclJson, IsReadAsTheLogOfTheSameRunWouldBe) {
  const auto result = read(document().dump());
  EXPECT_THAT(result.errors, IsEmpty());
  EXPECT_THAT(result.warnings, IsEmpty());
  ASSERT_EQ(result.run.samples.size(), 1U);
  EXPECT_EQ(result.run.steps.at(0).id, "alltoall 2 nodes x 1 GPU");
  const SampleRecord& sample = result.run.samples[0];
  EXPECT_THAT(sample.ends, ElementsAre(End{0, "1b"}, End{1, "9d"}));
  EXPECT_EQ(sample.values.at(0), 11.0);
  EXPECT_NEAR(*sample.values.at(1), 10.0, 1e-9);
  EXPECT_NEAR(*sample.values.at(2), 12.0, 1e-9);
  EXPECT_EQ(sample.detail.at("nccl"), "2.28.7");
}

// Only the first GPU of a process is listed there.
TEST(NcclJson, GpusOfAProcessAreCountedAndNotNamed) {
  Json json = document();
  json["config"]["ngpus"] = 4;
  json["config"]["devices"][1]["rank"] = 4;
  const auto run = read(json.dump()).run;
  EXPECT_EQ(run.steps.at(0).id, "alltoall 2 nodes x 4 GPUs");
  EXPECT_EQ(run.samples.at(0).detail.at("ranks"), 8);
  EXPECT_THAT(run.samples.at(0).ends, IsEmpty());
}

TEST(NcclJson, OneThatBreaksOffIsReadAsFarAsItGoes) {
  const std::string text = document().dump();
  Json more = document();
  more["results"].push_back(more["results"][0]);
  more["results"][1]["size"] = 2097152;
  const std::string longer = more.dump();
  const std::size_t second = longer.find("2097152");
  const auto result = read(longer.substr(0, second + 5));
  EXPECT_THAT(marks(result.errors), ElementsAre("truncated@0"));
  EXPECT_EQ(result.run.samples.size(), 1U);
  EXPECT_EQ(result.run.samples[0].status, Status::ok);
  for (std::size_t length = 0; length < text.size(); ++length) {
    read_nccl_tests({{"n.json", text.substr(0, length)}});
  }
}

TEST(NcclJson, TroubleIsNamed) {
  const auto with = [](const char* pointer, const Json& value) {
    Json json = document();
    json[Json::json_pointer(pointer)] = value;
    return marks(read(json.dump()).errors);
  };
  EXPECT_THAT(with("/results/0/out_of_place", nullptr), ElementsAre("bad_row@0", "no_rows@0"));
  EXPECT_THAT(with("/results/0/out_of_place/bus_bw", "nan"), ElementsAre("bad_row@0", "no_rows@0"));
  EXPECT_THAT(with("/results/0/in_place/nwrong", 3.0), ElementsAre("wrong_result@0"));
  EXPECT_THAT(with("/out_of_bounds/count", 2), ElementsAre("wrong_result@0"));
  EXPECT_THAT(with("/config/devices", nullptr), ElementsAre("no_node@0"));
  EXPECT_THAT(with("/config/devices/0/hostname", ""), ElementsAre("no_node@0", "no_data@0"));
  EXPECT_THAT(with("/average_bus_bandwidth", nullptr), ElementsAre("truncated@0"));
  Json failed = document();
  failed.erase("average_bus_bandwidth");
  failed["errors"] = {"unhandled system error"};
  const auto result = read(failed.dump());
  EXPECT_THAT(marks(result.errors), ElementsAre("failed@0"));
  EXPECT_EQ(result.run.samples.at(0).status, Status::failed);
  failed = document();
  failed["errors"] = {"Connection closed"};
  EXPECT_THAT(read(failed.dump()).warnings.at(0).message, HasSubstr("Connection closed"));
}

}  // namespace
}  // namespace fleetbench::record
