#include "harness/record/superbench.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>

#include "harness/record/superbench_key.hpp"
#include "results-schema/check.hpp"
#include "tests/unit/problem_marks.hpp"

namespace fleetbench::record {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ImportedSamples read(const std::string& text) { return read_superbench({{"r.jsonl", text}}); }

// "node/device benchmark#pass status: values" of each sample.
std::vector<std::string> lines_of(const RunData& run) {
  std::vector<std::string> lines;
  for (const SampleRecord& sample : run.samples) {
    std::string line = run.header.nodes.at(sample.node).name;
    line += sample.device.empty() ? "" : "/" + sample.device;
    line += sample.peer ? ">" + run.header.nodes.at(*sample.peer).name : "";
    line += fmt::format(" {}#{}", run.steps.at(sample.step).id, sample.pass);
    for (const auto& value : sample.values) {
      line += value ? fmt::format(" {}", *value) : " -";
    }
    line += sample.status == Status::ok ? "" : fmt::format(" {}", to_string(sample.status));
    lines.push_back(line);
  }
  return lines;
}

TEST(SuperbenchKey, IsTakenApart) {
  const auto runs = parse_superbench_key("kernel-launch/1/event_time:3");
  EXPECT_EQ(runs->benchmark, "kernel-launch");
  EXPECT_EQ(runs->metric, "event_time");
  EXPECT_EQ(runs->run, 1);
  EXPECT_EQ(runs->rank, 3);
  const auto model = parse_superbench_key("model-benchmarks:resnet/pytorch-resnet50/step_time");
  EXPECT_EQ(model->benchmark, "model-benchmarks:resnet/pytorch-resnet50");
  EXPECT_EQ(model->run, std::nullopt);
  EXPECT_EQ(model->rank, std::nullopt);
  const auto pair = parse_superbench_key("ib-traffic/ib_write_bw_8_0_3:a_b");
  EXPECT_EQ(pair->suffix, "a_b");
  EXPECT_FALSE(parse_superbench_key("node"));
  for (const char* odd : {"/", "//", "a/", "/:", "a/b:", "a/:1", "1/2"}) {
    EXPECT_TRUE(parse_superbench_key(odd)) << odd;
  }
}

TEST(SuperbenchKey, NamesTellDirectionUnitAndLayer) {
  struct Case {
    const char* benchmark;
    const char* metric;
    std::optional<Better> better;
    const char* unit;
    std::optional<Layer> layer;
  };
  const std::vector<Case> table{
      {"nccl-bw", "allreduce_8_time", Better::lower, "us", Layer::network},
      {"nccl-bw:x", "allreduce_8_busbw", Better::higher, "GB/s", Layer::network},
      {"mem-bw", "h2d_bw", Better::higher, "GB/s", Layer::copy},
      {"kernel-launch", "host_dispatch_us", Better::lower, "us", Layer::compute},
      {"gemm-flops", "int8_tc_iops", Better::higher, "GIOPS", Layer::compute},
      {"cublaslt-gemm", "fp16_1_4096_flops", Better::higher, "TFLOPS", Layer::compute},
      {"cpu-memory-bw-latency", "mem_bandwidth_matrix_numa_0_1_lat", Better::lower, "ns",
       Layer::host},
      {"disk-benchmark", "nvme0n1_rand_read_iops", Better::higher, "IOPS", Layer::storage},
      {"disk-benchmark", "nvme0n1_rand_read_bs", std::nullopt, "bytes", Layer::storage},
      {"model-benchmarks:a/b", "fp16_train_step_time", Better::lower, "ms", Layer::step},
      {"ib-loopback", "IB_write_8388608_Avg_7", Better::higher, "", Layer::network},
      {"gpcnet-network-load-test", "rr_two-sided_lat_x_avg", std::nullopt, "", Layer::network},
      {"something", "else", std::nullopt, "", std::nullopt},
  };
  for (const Case& expected : table) {
    const auto facts = superbench_facts(expected.benchmark, expected.metric);
    EXPECT_EQ(facts.better, expected.better) << expected.metric;
    EXPECT_EQ(facts.unit, expected.unit) << expected.metric;
    EXPECT_EQ(facts.layer, expected.layer) << expected.metric;
  }
}

TEST(Superbench, RankZeroAloneIsTheNode) {
  const auto samples =
      read(R"({"node":"a","nccl-bw/x_busbw:0":1,"mem-bw/h2d_bw:0":2,"mem-bw/h2d_bw:1":3})");
  EXPECT_THAT(lines_of(samples.run),
              ElementsAre("a nccl-bw#0 1", "a/rank0 mem-bw#0 2", "a/rank1 mem-bw#0 3"));
}

TEST(Superbench, RunsAndFurtherLinesOfANodeArePasses) {
  const auto samples = read(
      "{\"node\":\"a\",\"k/0/x_time\":1,\"k/1/x_time\":2}\n"
      "{\"node\":\"a\",\"k/0/x_time\":3}\n");
  EXPECT_THAT(lines_of(samples.run), ElementsAre("a k#0 1", "a k#1 2", "a k#2 3"));
  const auto files = read_superbench(
      {{"1", R"({"node":"a","k/x_time":1})"}, {"2", R"({"node":"a","k/x_time":2})"}});
  EXPECT_THAT(lines_of(files.run), ElementsAre("a k#0 1", "a k#1 2"));
}

TEST(Superbench, LinksHaveOneMetricInCommonAndMayNameNodesWithoutALine) {
  const auto samples =
      read(R"({"node":"n1","ib-traffic/w_bw_8_0_0:n1_n2":1,"ib-traffic/w_bw_8_1_0:n2_n1":2})"
           "\n{\"node\":\"n2\",\"nccl-bw/all_0_0:8_time\":3}\n");
  EXPECT_THAT(lines_of(samples.run),
              testing::UnorderedElementsAre("n1>n2 ib-traffic#0 1", "n2>n1 ib-traffic#0 2",
                                            "n1 nccl-bw#0 failed", "n2 nccl-bw#0 3"));
  EXPECT_EQ(samples.run.steps.at(0).metrics.at(0).name, "w_bw_8");
  EXPECT_EQ(samples.run.steps.at(1).metrics.at(0).name, "all_0_0:8_time");
  const auto unknown = read(R"({"node":"n1","ib-traffic/w_bw_8_0_0:n1_n3":1})");
  EXPECT_EQ(unknown.run.header.nodes.size(), 2U);
}

TEST(Superbench, AFailedRankHasNoValueAndNoOtherSuffers) {
  const auto samples = read(
      R"({"node":"a","m/return_code:0":0,"m/return_code:1":32,"m/x_bw:0":1,"m/x_bw:1":0,"m/y_bw:1":5})");
  EXPECT_THAT(samples.errors, IsEmpty());
  EXPECT_THAT(lines_of(samples.run), ElementsAre("a/rank1 m#0 failed", "a/rank0 m#0 1"));
  const auto whole = read(R"({"node":"a","m/return_code":124,"m/x_bw:0":1,"m/x_bw:1":2})");
  EXPECT_THAT(lines_of(whole.run), ElementsAre("a m#0 timeout"));
  const auto unsupported = read(R"({"node":"a","m/return_code":34})");
  EXPECT_THAT(lines_of(unsupported.run), ElementsAre("a m#0 skipped"));
}

TEST(Superbench, AFailedCheckIsAWrongResult) {
  const auto samples = read(R"({"node":"a","gpu-burn/gpu_0_pass":1,"gpu-burn/gpu_1_pass":0})");
  EXPECT_THAT(lines_of(samples.run), ElementsAre("a gpu-burn#0 1", "a gpu-burn#0 wrong"));
  EXPECT_EQ(samples.run.samples.at(1).reason, "gpu-burn/gpu_1_pass is 0 (r.jsonl:1)");
}

TEST(Superbench, AValueThatMostNodesHaveIsMissing) {
  const auto samples = read(
      "{\"node\":\"a\",\"m/x_bw:0\":1,\"m/x_bw:1\":2}\n"
      "{\"node\":\"b\",\"m/x_bw:0\":1,\"m/x_bw:1\":2}\n"
      "{\"node\":\"c\",\"m/x_bw:0\":1,\"m/odd_bw:0\":7}\n");
  const auto lines = lines_of(samples.run);
  EXPECT_THAT(lines, Contains("c/rank1 m#0 failed"));
  EXPECT_EQ(
      std::ranges::count_if(
          lines, [](const std::string& line) { return line.find("failed") != std::string::npos; }),
      1);
  EXPECT_THAT(samples.run.samples.back().reason, HasSubstr("no value of m/x_bw:1 (r.jsonl:3)"));
}

TEST(Superbench, TelemetryExplainsAndIsNeverJudgedNorMissing) {
  const auto samples = read(
      "{\"node\":\"a\",\"monitor/gpu_temperature:0\":60,\"m/x_bw\":1}\n"
      "{\"node\":\"b\",\"m/x_bw\":1}\n");
  EXPECT_THAT(samples.errors, IsEmpty());
  EXPECT_THAT(samples.warnings, IsEmpty());
  EXPECT_TRUE(samples.run.steps.at(0).metrics.at(0).covariate);
  EXPECT_FALSE(samples.run.steps.at(0).metrics.at(0).judged);
  EXPECT_THAT(samples.run.omissions, IsEmpty());
}

TEST(Superbench, WhatTellsNoDirectionIsKeptAndSaidOnce) {
  const auto samples =
      read("{\"node\":\"a\",\"m/odd\":1,\"stamp\":\"x\"}\n{\"node\":\"b\",\"m/odd\":0}\n");
  EXPECT_THAT(samples.errors, IsEmpty());
  EXPECT_THAT(marks(samples.warnings), ElementsAre("unknown_key@0", "unknown_direction@0"));
  EXPECT_THAT(samples.warnings.at(1).text(), HasSubstr("m/odd"));
  EXPECT_THAT(lines_of(samples.run), ElementsAre("a m#0 1", "b m#0 0"));
}

TEST(Superbench, WhatIsWrongWithALineIsSaidAndTheRestIsKept) {
  const std::vector<std::pair<std::string, std::string>> table{
      {R"({"node":"b","m/x_bw":1)", "bad_line@2"},
      {R"({"node":"b","m/x_bw":1}})", "bad_line@2"},
      {R"({"node":"b","m/x_bw":1} {"node":"c"})", "bad_line@2"},
      {R"({"node":"b" "m/x_bw":1})", "bad_line@2"},
      {R"({"node":"b","m/x_bw":1,})", "bad_line@2"},
      {R"([{"node":"b"}])", "bad_line@2"},
      {"hello", "bad_line@2"},
      {"{", "bad_line@2"},
      {"\"", "bad_line@2"},
      {R"({"m/x_bw":1})", "no_node@2"},
      {R"({"node":7,"m/x_bw":1})", "no_node@2"},
      {R"({"node":"","m/x_bw":1})", "no_node@2"},
      {"{\"node\":\"\xFF\",\"m/x_bw\":1}", "encoding@2"},
      {R"({"node":"b","m/x_bw":"1"})", "bad_number@2"},
      {R"({"node":"b","m/x_bw":true})", "bad_number@2"},
      {R"({"node":"b","m/x_bw":-Infinity})", "bad_number@2"},
      {R"({"node":"b","m/x_bw":1e999})", "bad_number@2"},
      {R"({"node":"b","m/x_bw":-1})", "bad_number@2"},
      {R"({"node":"b","m/x_bw":0})", "bad_number@2"},
      {R"({"node":"b","m/x_bw":[[[]]]})", "bad_number@2"},
      {R"({"node":"b","m/x_bw":null})", "no_value@2"},
      {R"({"node":"b","m/return_code":null,"m/x_bw":2})", "no_value@2"},
  };
  for (const auto& [line, mark] : table) {
    const auto samples =
        read("{\"node\":\"a\",\"m/x_bw\":1}\n" + line + "\n{\"node\":\"z\",\"m/x_bw\":3}");
    EXPECT_THAT(marks(samples.errors), ElementsAre(mark)) << line;
    EXPECT_THAT(lines_of(samples.run), Contains("a m#0 1")) << line;
    EXPECT_THAT(lines_of(samples.run), Contains("z m#0 3")) << line;
    EXPECT_THAT(samples.run.damage.at(0), testing::StartsWith("r.jsonl:2: "));
  }
  EXPECT_THAT(marks(read("").errors), ElementsAre("empty@0"));
  EXPECT_THAT(marks(read("\n \n").errors), ElementsAre("empty@0"));
}

TEST(Superbench, AnyPrefixOfAFileIsReadWithoutACrash) {
  const std::string text =
      "{\"node\":\"a\\u00e4\",\"m/x_bw:0\":1e-2,\"k/0/t_time\":NaN,\"o\":{\"p\":[1,\"}\"]}}\n"
      "{\"node\":\"b\",\"m/return_code:0\":3,\"t/w_bw_0_0:a_b\":2}";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const auto samples = read(text.substr(0, length));
    EXPECT_EQ(samples.run.damage.size(), samples.errors.size());
  }
  EXPECT_NO_THROW(read("{\"node\":" + std::string(100'000, '[')));
}

TEST(Superbench, WhatWouldTakeAllMemoryIsAnError) {
  std::string text = R"({"node":"a")";
  for (int i = 0; i < 3000; ++i) {
    text += fmt::format(R"(,"b{}/time":1)", i);
  }
  text += "}\n";
  for (int i = 0; i < 3000; ++i) {
    text += fmt::format("{{\"node\":\"n{}\"}}\n", i);
  }
  EXPECT_THAT([&] { read(text); }, testing::ThrowsMessage<InputError>(HasSubstr(
                                       "r.jsonl: lines lack 9000000 values that other lines")));
}

TEST(Superbench, ManyReturnCodesOfOneLineTakeNoLongerThanTheyAreMany) {
  std::string text = R"({"node":"a")";
  for (int i = 0; i < 20'000; ++i) {
    text += fmt::format(R"(,"b/{0}/return_code:0":1,"b/{1}/time:0":1)", i, i + 10'000);
  }
  const auto begin = std::chrono::steady_clock::now();
  const ImportedSamples samples = read(text + "}\n");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_EQ(samples.run.samples.size(), 30'000U);
}

TEST(Superbench, NamesAsLongAsALineAndDeepValuesAreLeftOut) {
  const std::string name(100'000, 'n');
  const auto samples =
      read("{\"node\":\"" + name + "\",\"b/time\":1}\n{\"node\":\"a\",\"b/" + name +
           "\":1,\"b/deep\":" + std::string(100'000, '[') + std::string(100'000, ']') +
           ",\"b/time\":2}\n{\"node\":\"a\",\"b/time\":3}\n");
  EXPECT_THAT(marks(samples.errors), Contains("no_node@1"));
  EXPECT_THAT(marks(samples.errors), Contains("bad_line@2"));
  EXPECT_THAT(lines_of(samples.run), Contains("a b#1 3"));
  for (const Problem& error : samples.errors) {
    EXPECT_LT(error.message.size(), 300U);
  }
}

TEST(Superbench, KnowsItsOwnKind) {
  EXPECT_TRUE(looks_like_superbench("{\"node\": \"a\"}"));
  EXPECT_TRUE(looks_like_superbench("\xEF\xBB\xBF{\"m/x\": 1, \"node\": \"a\"}\n"));
  for (const char* text : {"", "{}", "[]", "node,metric", "{\"a\": 1}\n{\"node\": 1}"}) {
    EXPECT_FALSE(looks_like_superbench(text)) << text;
  }
}

}  // namespace
}  // namespace fleetbench::record
