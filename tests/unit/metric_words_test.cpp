#include "harness/record/metric_words.hpp"

#include <gmock/gmock.h>

#include "harness/record/sample_rows.hpp"

namespace fleetbench::record {
namespace {

TEST(MetricWords, UnitsTellWhichWayIsBetter) {
  for (const char* unit : {"s", "ms", "us", "µs", "ns", "seconds", "min", "ms/step", "s/iter"}) {
    EXPECT_EQ(better_of_unit(unit), Better::lower) << unit;
  }
  for (const char* unit : {"GB/s", "MiB/s", "B/s", "images/s", "tokens/sec", "IOPS", "GFLOPS",
                           "FLOP/s", "Gbit/s", "Gbps", "MHz", "1/s", "samples/min"}) {
    EXPECT_EQ(better_of_unit(unit), Better::higher) << unit;
  }
  for (const char* unit : {"", "%", "W", "C", "B", "GB", "1", "/", "x", "bytes", "m/W"}) {
    EXPECT_EQ(better_of_unit(unit), std::nullopt) << unit;
  }
}

TEST(MetricWords, NamesTellTheLayer) {
  const std::vector<std::tuple<const char*, const char*, Layer>> table{
      {"sgemm_time", "ms", Layer::compute},
      {"h2d_bw", "GB/s", Layer::copy},
      {"nccl_all_reduce_busbw", "GB/s", Layer::network},
      {"IB_write-bw", "", Layer::network},
      {"fio_randread_64k", "IOPS", Layer::storage},
      {"resnet_iteration", "ms", Layer::step},
      {"step_time", "ms", Layer::step},
      {"image_decode", "images/s", Layer::input},
      {"cpu-memory-bw-latency", "", Layer::host},
      {"gpu-copy-bw", "", Layer::copy},
      {"nvlink_p2p", "GB/s", Layer::fabric},
      {"fp64", "GFLOPS", Layer::compute},
      {"random", "kiops", Layer::storage},
  };
  for (const auto& [name, unit, layer] : table) {
    EXPECT_EQ(layer_of_words(name, unit), layer) << name;
  }
  EXPECT_EQ(layer_of_words("tribal", "s"), std::nullopt);  // "ib" must be a whole word
  EXPECT_EQ(layer_of_words("", ""), std::nullopt);
}

TEST(MetricWords, OnlyWholeFiniteDecimalNumbersAreNumbers) {
  const std::vector<std::pair<const char*, double>> numbers{
      {"26.1", 26.1}, {" 26.4 ", 26.4}, {"+26.5", 26.5}, {".265e2", 26.5}, {"-3", -3},
      {"1e-2", 0.01}, {"0", 0},         {"7.", 7},       {"\t8\r", 8}};
  for (const auto& [text, value] : numbers) {
    EXPECT_EQ(finite_number(text), value) << text;
  }
  for (const char* text : {"", " ", "nan", "NaN(7)", "inf", "-Infinity", "0x1A", "26.1abc", "1e999",
                           "26_000", "1,000", "N/A", "26.1.2", "+-1", "++1", "1 2", "1e", "-"}) {
    EXPECT_EQ(finite_number(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace fleetbench::record
