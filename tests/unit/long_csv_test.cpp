#include "harness/record/long_csv.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/unit/problem_marks.hpp"

namespace fleetbench::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ImportedSamples read(const std::string& text) { return read_long_csv({{"a.csv", text}}); }

const MetricInfo& metric(const ImportedSamples& samples, const std::string& name) {
  const auto& metrics = samples.run.steps.at(0).metrics;
  const auto found = std::ranges::find(metrics, name, &MetricInfo::name);
  EXPECT_NE(found, metrics.end()) << name;
  return *found;
}

// "node/device>peer#pass: values" of each sample, absent values as "-".
std::vector<std::string> lines_of(const RunData& run) {
  std::vector<std::string> lines;
  for (const SampleRecord& sample : run.samples) {
    std::string line = run.header.nodes.at(sample.node).name;
    line += sample.device.empty() ? "" : "/" + sample.device;
    line += sample.peer ? ">" + run.header.nodes.at(*sample.peer).name : "";
    line += "#" + std::to_string(sample.pass) + ":";
    for (const auto& value : sample.values) {
      line += value ? fmt::format(" {}", *value) : " -";
    }
    line += sample.status == Status::ok ? "" : fmt::format(" {}", to_string(sample.status));
    lines.push_back(line);
  }
  return lines;
}

TEST(LongCsv, GivenPassesAreCountedInTheirOrder) {
  const auto samples = read("node,metric,value,unit,pass\na,t,1,s,30\na,t,2,s,-5\nb,t,3,s,30\n");
  EXPECT_THAT(lines_of(samples.run), ElementsAre("a#0: 2", "a#1: 1", "b#1: 3"));
}

TEST(LongCsv, RowsWithoutPassAreTheNextPassOfTheirSubjectAndMetric) {
  const auto samples = read(
      "node,metric,value,unit,pass\na,t,1,s,\nb,t,2,s,\na,t,3,s,\na,u,4,s,\nb,t,5,s,7\nb,t,6,s,\n");
  EXPECT_THAT(lines_of(samples.run),
              ElementsAre("a#0: 1 4", "b#0: 5 -", "b#1: 2 -", "a#1: 3 -", "b#2: 6 -"));
}

TEST(LongCsv, MetricsOfOneSubjectAndPassAreOneSample) {
  const auto samples = read(
      "node,device,metric,value,unit,layer\na,gpu0,sgemm,10,ms,compute\na,gpu0,clock,1300,MHz,"
      "telemetry\na,gpu1,sgemm,11,ms,compute\na,gpu1,clock,0,MHz,telemetry\n");
  EXPECT_THAT(samples.errors, IsEmpty());
  EXPECT_THAT(lines_of(samples.run), ElementsAre("a/gpu0#0: 10 1300", "a/gpu1#0: 11 0"));
  EXPECT_TRUE(metric(samples, "clock").covariate);
  EXPECT_FALSE(metric(samples, "clock").judged);
  EXPECT_EQ(metric(samples, "sgemm").subject, SubjectKind::device);
  EXPECT_EQ(metric(samples, "sgemm").layer, Layer::compute);
  EXPECT_EQ(metric(samples, "sgemm").better, Better::lower);
}

TEST(LongCsv, NodesStandInTheOrderOfTheirNamesWhateverThatOfTheRows) {
  const auto one = read("node,metric,value,unit\nb,t,2,s\na,t,1,s\n");
  const auto other = read("node,metric,value,unit\na,t,1,s\nb,t,2,s\n");
  EXPECT_EQ(one.run.header.nodes.at(0).name, "a");
  auto shuffled = lines_of(one.run);
  std::ranges::sort(shuffled);
  EXPECT_EQ(shuffled, lines_of(other.run));
}

TEST(LongCsv, LinksAreSymmetricWhereEachStandsInOneOrderOnly) {
  const std::string head = "node,peer,metric,value,unit\n";
  const auto one_way = read(head + "a,b,bw,1,GB/s\na,c,bw,2,GB/s\n");
  EXPECT_TRUE(metric(one_way, "bw").symmetric);
  EXPECT_EQ(metric(one_way, "bw").subject, SubjectKind::link);
  EXPECT_EQ(metric(one_way, "bw").layer, Layer::network);
  const auto both_ways = read(head + "a,b,bw,1,GB/s\nb,a,bw,2,GB/s\n");
  EXPECT_FALSE(metric(both_ways, "bw").symmetric);
  EXPECT_THAT(lines_of(both_ways.run), ElementsAre("a>b#0: 1", "b>a#0: 2"));
}

TEST(LongCsv, EachRailIsAMetricOfItsOwn) {
  const auto samples =
      read("node,peer,rail,metric,value,unit\na,b,mlx0,bw,1,GB/s\na,b,mlx1,bw,2,GB/s\n");
  EXPECT_THAT(lines_of(samples.run), ElementsAre("a>b#0: 1 2"));
  EXPECT_EQ(samples.run.steps.at(0).metrics.at(1).name, "bw@mlx1");
}

TEST(LongCsv, OneNameForNodesAndDevicesMakesTwoMetrics) {
  const auto samples = read("node,device,metric,value,unit\na,,t,1,s\na,g0,t,2,s\nb,g0,t,3,s\n");
  EXPECT_THAT(samples.errors, IsEmpty());
  EXPECT_THAT(marks(samples.warnings), ElementsAre("conflict@3"));
  EXPECT_EQ(metric(samples, "t").subject, SubjectKind::node);
  EXPECT_EQ(metric(samples, "t (device)").subject, SubjectKind::device);
  EXPECT_THAT(lines_of(samples.run), ElementsAre("a#0: 1 -", "a/g0#0: - 2", "b/g0#0: - 3"));
}

TEST(LongCsv, AStatusThatIsNotOkIsASampleWithAReason) {
  const auto samples = read(
      "node,metric,value,unit,status\na,t,1,s,ok\nb,t,,s,FAILED\nc,t,,s,timeout\nd,t,4,s,wrong\n"
      "e,t,5,s,failed\nf,t,6,s,skipped\ng,t,7,s,\n");
  EXPECT_THAT(samples.errors, IsEmpty());
  EXPECT_THAT(marks(samples.warnings), ElementsAre("conflict@6", "conflict@7"));
  EXPECT_THAT(lines_of(samples.run),
              ElementsAre("a#0: 1", "b#0: failed", "c#0: timeout", "d#0: wrong", "e#0: failed",
                          "f#0: skipped", "g#0: 7"));
  EXPECT_EQ(samples.run.samples.at(1).reason, "t has status failed (a.csv:3)");
  EXPECT_EQ(samples.run.samples.at(1).detail.at("metric"), "t");
}

TEST(LongCsv, CohortsGoToNodes) {
  const auto samples = read(
      "node,metric,value,unit,cohort\na,t,1,s,h100\na,t,2,s,\nb,t,1,s,a100\n"
      "b,t,1,s,h100\nb,t,1,s,v100\nc,t,1,s,\n");
  EXPECT_EQ(samples.run.header.nodes.at(0).cohort, "h100");
  EXPECT_EQ(samples.run.header.nodes.at(1).cohort, "a100");
  EXPECT_EQ(samples.run.header.nodes.at(2).cohort, "");
  EXPECT_THAT(marks(samples.warnings), ElementsAre("conflict@5"));
}

TEST(LongCsv, WhereNeitherUnitNorColumnTellsTheDirectionTheMetricIsNotJudged) {
  const auto samples =
      read("node,metric,value,unit,better\na,loss,1,,\nb,loss,2,,\na,u,5,%,higher\n");
  EXPECT_THAT(marks(samples.errors), ElementsAre("unknown_direction@2"));
  EXPECT_THAT(samples.errors.at(0).text(),
              testing::AllOf(HasSubstr("a.csv:2: metric loss"), HasSubstr("column \"better\"")));
  EXPECT_FALSE(metric(samples, "loss").judged);
  EXPECT_TRUE(metric(samples, "u").judged);
  EXPECT_EQ(metric(samples, "u").better, Better::higher);
  EXPECT_EQ(samples.run.samples.size(), 2U);
}

struct BadRow {
  const char* row;
  const char* mark;
};

TEST(LongCsv, WhatIsWrongWithARowIsSaidAndTheRestIsKept) {
  const std::string head = "node,metric,value,unit,device,peer,better,layer,pass,status\n";
  const std::string good = "good,t,1,s,,,,,,\n";
  const std::vector<BadRow> errors{
      {",t,1,s,,,,,,", "no_node@3"},
      {"a,,1,s,,,,,,", "no_metric@3"},
      {"a,t,,s,,,,,,", "no_value@3"},
      {"a,t,1,s,,,,,", "bad_row@3"},
      {"a,t,1,s,,,,,,,", "bad_row@3"},
      {"a", "bad_row@3"},
      {"a,t,1,s,,a,,,,", "bad_row@3"},
      {"a,t,1,ms,,,,,,", "conflict@3"},
      {"a,t,1,s,,,,,1.5,", "bad_number@3"},
      {"a,t,1,s,,,,,99999999999999999999,", "bad_number@3"},
      {"a,t,1,s,,,,,,lost", "unknown_status@3"},
      {"a,t,0,s,,,,,,", "bad_number@3"},
      {"a\xFF,t,1,s,,,,,,", "encoding@3"},
      {"a,t,1,s,,,,,,\"ok", "truncated@3"},
      {"a,t,1\",s,,,,,,", "bad_row@3"},
  };
  for (const BadRow& bad : errors) {
    const auto samples = read(head + good + bad.row + "\n" + "last,t,1,s,,,,,,\n");
    EXPECT_THAT(marks(samples.errors), ElementsAre(bad.mark)) << bad.row;
    EXPECT_EQ(samples.run.samples.size(), 2U) << bad.row;
    EXPECT_EQ(samples.run.damage.size(), 1U);
    EXPECT_THAT(samples.run.damage.at(0), testing::StartsWith("a.csv:3: "));
  }
}

TEST(LongCsv, DoubtfulRowsAreKeptWithAWarning) {
  const std::string head = "node,metric,value,unit,device,peer,better,layer,pass,status\n";
  const std::vector<BadRow> warnings{
      {"a,t,1,s,,,higher,,,", "conflict@3"},    {"a,t,1,s,,,up,,,", "unknown_direction@3"},
      {"a,t,1,s,,,,gpu,,", "unknown_layer@3"},  {"a,t,1,s,,,,host,,", "conflict@3"},
      {"a,t,1,s,,,,telemetry,,", "conflict@3"},
  };
  for (const BadRow& bad : warnings) {
    const auto samples = read(head + "good,t,1,s,,,lower,network,,\n" + bad.row + "\n");
    EXPECT_THAT(samples.errors, IsEmpty()) << bad.row;
    EXPECT_THAT(marks(samples.warnings), ElementsAre(bad.mark)) << bad.row;
    EXPECT_EQ(samples.run.samples.size(), 2U) << bad.row;
    EXPECT_EQ(metric(samples, "t").layer, Layer::network);
  }
}

TEST(LongCsv, WhatIsWrongWithAHeaderIsSaidOnce) {
  const std::vector<std::pair<std::string, std::string>> table{
      {"", "empty@0"},
      {"\n\n", "empty@0"},
      {"node,metric,value\n", "no_rows@0"},
      {"node;metric;value\na;t;1\nb;t;1\n", "missing_column@1"},
      {"node,metric\na,t\nb,t\n", "missing_column@1"},
      {"node,node,metric,value\na,a,t,1\n", "duplicate_key@1"},
      {"node,metric,\"value\na,t,1\n", "bad_row@1"},
      {"node,metric,value,\xFF\na,t,1,2\n", "encoding@1"},
  };
  for (const auto& [text, mark] : table) {
    const auto samples = read(text);
    EXPECT_THAT(marks(samples.errors), ElementsAre(mark)) << text;
    EXPECT_THAT(samples.run.samples, IsEmpty());
  }
  const auto more = read("Node, METRIC ,value,unit,rack\na,t,1,s,r1\n");
  EXPECT_THAT(more.errors, IsEmpty());
  EXPECT_THAT(marks(more.warnings), ElementsAre("unknown_key@1"));
  EXPECT_EQ(more.run.samples.size(), 1U);
}

TEST(LongCsv, ALaterFileAddsPassesNodesOrMetrics) {
  const SourceText first{"1.csv", "node,metric,value,unit,pass\na,t,1,s,0\na,t,2,s,1\n"};
  const SourceText again{"2.csv", "node,metric,value,unit,pass\na,t,3,s,0\nb,t,4,s,1\n"};
  const SourceText others{"3.csv", "node,metric,value,unit,pass\nc,t,5,s,0\na,u,6,s,1\n"};
  EXPECT_THAT(lines_of(read_long_csv({first, again}).run),
              ElementsAre("a#0: 1", "a#1: 2", "a#2: 3", "b#3: 4"));
  EXPECT_THAT(lines_of(read_long_csv({first, others}).run),
              ElementsAre("a#0: 1 -", "c#0: 5 -", "a#1: 2 6"));
}

TEST(LongCsv, ProblemsSayWhichFile) {
  const auto samples = read_long_csv({{"1.csv", "node,metric,value,unit\na,t,x,s\n"},
                                      {"2.csv", "node,metric,value,unit\na,t,1,s\nb,t,1,ms\n"}});
  ASSERT_EQ(samples.errors.size(), 2U);
  EXPECT_THAT(samples.errors.at(0).text(), testing::StartsWith("1.csv:2: "));
  EXPECT_THAT(samples.errors.at(1).text(), testing::StartsWith("2.csv:3: "));
}

TEST(LongCsv, AFileOfNothingButFaultsIsNotToldToItsEnd) {
  std::string text = "node,metric,value\n";
  for (int i = 0; i < 5000; ++i) {
    text += "a,t,x\n";
  }
  const auto samples = read(text);
  ASSERT_EQ(samples.errors.size(), 1001U);
  EXPECT_EQ(samples.errors.back().kind, "too_many");
  EXPECT_THAT(samples.errors.back().message, HasSubstr("4000 more"));
}

TEST(LongCsv, AnyPrefixOfAFileIsReadWithoutACrash) {
  const std::string text =
      "\xEF\xBB\xBFnode,device,peer,metric,value,unit,layer,pass,status\r\n"
      "\"n \"\"1\"\"\",g0,,t,1,s,compute,1,\r\nn2,,n3,bw,2.5,GB/s,,,ok\r\nn4,,,t,,s,,2,failed\r\n";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const auto samples = read(text.substr(0, length));
    EXPECT_TRUE(!samples.errors.empty() || !samples.run.samples.empty()) << length;
    EXPECT_EQ(samples.run.damage.size(), samples.errors.size());
  }
}

TEST(LongCsv, NamesAsLongAsAFileAreNone) {
  const std::string name(1'000'000, 'n');
  const auto samples = read("node,metric,value,unit\n" + name + ",t,1,s\nn2," + name +
                            ",1,s\nn3,t," + std::string(1000, '1') + ",s\nn4,t,1,s\n");
  EXPECT_THAT(marks(samples.errors), testing::ElementsAre("bad_row@2", "bad_row@3", "bad_row@4"));
  EXPECT_THAT(samples.errors.at(0).text(),
              HasSubstr("node is 1000000 bytes long, at most 512 are read: \"nnn"));
  for (const Problem& error : samples.errors) {
    EXPECT_LT(error.message.size(), 200U);
  }
  EXPECT_EQ(samples.run.samples.size(), 1U);
}

TEST(LongCsv, NumbersBeyondReasonAreNamed) {
  for (const char* value : {"1e999", "-1e999", "nan", "inf", "-Infinity", "NaN", "0x10", "1,5"}) {
    const auto samples =
        read(std::string("node,metric,unit,value\na,t,s,\"") + value + "\"\nb,t,s,1\n");
    ASSERT_EQ(samples.errors.size(), 1U) << value;
    EXPECT_THAT(samples.errors[0].text(), HasSubstr(value));
  }
  for (const char* pass : {"1e9", "99999999999999999999", "-9223372036854775808", "one"}) {
    const auto samples =
        read(std::string("node,metric,unit,value,pass\na,t,s,1,") + pass + "\nb,t,s,1,0\n");
    EXPECT_THAT(marks(samples.errors), testing::ElementsAre("bad_number@2")) << pass;
  }
  // Passes are counted, so a large number of one costs nothing.
  const auto samples =
      read("node,metric,unit,value,pass\na,t,s,1,1000000000\na,t,s,2,-1000000000\n");
  EXPECT_THAT(samples.errors, testing::IsEmpty());
  EXPECT_EQ(samples.run.samples.at(1).pass, 1);
}

TEST(LongCsv, KnowsItsOwnKind) {
  for (const char* text :
       {"node,metric,value\n", "\xEF\xBB\xBF\"value\",\"node\"\r\nx", "rack,node"}) {
    EXPECT_TRUE(looks_like_long_csv(text)) << text;
  }
  for (const char* text : {"", "\n", "node", "{\"node\": 1, \"metric\": 2}", "time,speed\n1,2\n"}) {
    EXPECT_FALSE(looks_like_long_csv(text)) << text;
  }
}

}  // namespace
}  // namespace fleetbench::record
