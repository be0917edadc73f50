#include "harness/record/sample_file.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <fstream>

#include "results-schema/check.hpp"
#include "temporary_directory.hpp"
#include "tests/unit/nccl_example.hpp"

namespace fleetbench::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;

const std::string kCsv = "node,metric,value,unit\na,t,1,s\nb,t,2,s\n";
const std::string kJsonl = "{\"node\":\"a\",\"m/x_bw\":1}\n";

class SampleFile : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& name, const std::string& text) {
    std::ofstream(directory_.path() / name, std::ios::binary) << text;
    return directory_.path() / name;
  }

  std::string refusal_of(const std::vector<std::filesystem::path>& paths) {
    try {
      load_samples(paths);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }

  TemporaryDirectory directory_;
};

TEST_F(SampleFile, IsToldByItsContentNotByItsName) {
  EXPECT_EQ(load_samples({file("x.jsonl", kCsv)}).run.samples.size(), 2U);
  EXPECT_EQ(load_samples({file("y.csv", kJsonl)}).run.samples.size(), 1U);
  EXPECT_EQ(load_samples({file("z", "\xEF\xBB\xBF" + kCsv)}).run.samples.size(), 2U);
}

TEST_F(SampleFile, SeveralOfOneKindMakeOneRun) {
  const auto run =
      load_samples({file("1", kCsv), file("2", "node,metric,value,unit\nc,t,3,s\n")}).run;
  EXPECT_EQ(run.header.nodes.size(), 3U);
  EXPECT_TRUE(run.imported);
  EXPECT_TRUE(run.end);
}

TEST_F(SampleFile, ContentTellsTheIdAndTheFileWhenItWasWritten) {
  const auto path = file("a.csv", kCsv);
  using std::chrono::file_clock;
  std::filesystem::last_write_time(
      path, file_clock::from_sys(
                std::chrono::sys_seconds{std::chrono::sys_days{std::chrono::year{2024} / 5 / 1}}));
  const auto loaded = load_samples({path});
  EXPECT_EQ(loaded.run.header.created, "2024-05-01T00:00:00Z");
  EXPECT_THAT(loaded.content_id, MatchesRegex("imported-[0-9a-f]{8}-39"));
  EXPECT_EQ(load_samples({file("renamed", kCsv)}).content_id, loaded.content_id);
  EXPECT_NE(load_samples({file("other", "node,metric,value,unit\na,t,1,s\nb,t,3,s\n")}).content_id,
            loaded.content_id);
}

TEST_F(SampleFile, SamplesAndBaselinesAreToldApart) {
  EXPECT_TRUE(looks_like_samples(kCsv));
  EXPECT_TRUE(looks_like_samples(kJsonl));
  EXPECT_FALSE(looks_like_samples("Dear all,\n"));
  // A node may be called "node", and other programs write JSON in one line.
  const std::string baseline =
      R"({"created":"x","schema":"fleetbench-baseline/1.0","subjects":[["node","",1,1]]})";
  EXPECT_TRUE(looks_like_baseline(baseline));
  EXPECT_FALSE(looks_like_samples(baseline));
  EXPECT_FALSE(looks_like_baseline(kCsv));
  EXPECT_FALSE(looks_like_baseline(""));
}

// One of hundreds of logs of which only a launcher's complaint is left costs nobody else.
TEST_F(SampleFile, ALogWithoutATestIsAFaultAmongLogsOfNcclTests) {
  const auto log = file("a.log", text_of(NcclExample{}));
  const auto loaded =
      load_samples({file("b.log", "ssh: connect to host b port 22: No route to host\n"), log,
                    file("c.log", "\n")});
  EXPECT_EQ(loaded.run.samples.size(), 1U);
  EXPECT_THAT(loaded.notes, ElementsAre(HasSubstr("b.log: there is no test of nccl-tests"),
                                        HasSubstr("c.log: there is no test")));
  EXPECT_THAT(refusal_of({log, file("x.csv", kCsv)}), HasSubstr("give files of one kind"));
}

TEST_F(SampleFile, FaultsAndDoubtsAreNotes) {
  const auto path = file("a.csv", "node,metric,value,unit,rack\na,t,1,s,1\nb,t,x,s,1\n");
  const auto loaded = load_samples({path});
  EXPECT_THAT(loaded.notes,
              ElementsAre(HasSubstr("a.csv:3: t on b"), HasSubstr("column \"rack\"")));
  EXPECT_THAT(loaded.run.damage, ElementsAre(HasSubstr("a.csv:3: ")));
}

TEST_F(SampleFile, WhatIsNotReadIsNamedWithWhatIs) {
  const auto csv = file("good.csv", kCsv);
  const std::vector<std::pair<std::vector<std::filesystem::path>, std::string>> table{
      {{"/nowhere/x"}, "/nowhere/x: there is no such file"},
      {{directory_.path()}, "has no run.json"},
      {{csv, directory_.path()}, "give it alone"},
      {{csv, file("j", kJsonl)}, "give files of one kind"},
      {{csv, file("copy", kCsv)}, "holds the same as"},
      {{file("empty", " \n")}, "is empty"},
      {{file("prose", "Dear all,\n")}, "begins with \"Dear all,\""},
      {{file("other.json", "{\"a\": 1}\n")}, "results-summary.jsonl"},
      {{file("nccl", "# nThread 1 nGpus 8\n")}, "nccl:1: the run has no row and no end"},
      {{file("journal", "{\"t\":\"journal\",\"schema\":\"fleetbench-journal/1.0\"}\n")},
       "give the directory"},
      {{file("baseline", "{\n \"schema\": \"fleetbench-baseline/1.0\"\n}\n")},
       "is a baseline, which holds no samples; it is what --baseline takes"},
      {{file("utf16", std::string("\xFF\xFEn\0o\0", 6))}, "save it as UTF-8"},
      {{file("no_value.csv", "node,metric\na,t\n")}, "no_value.csv:1: column value is missing"},
      {{file("all_bad.csv", "node,metric,value\na,t,x\n")}, "no sample could be read"},
  };
  for (const auto& [paths, message] : table) {
    EXPECT_THAT(refusal_of(paths), HasSubstr(message));
  }
}

}  // namespace
}  // namespace fleetbench::record
