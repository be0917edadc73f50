#include <gtest/gtest.h>

#include <cmath>

#include "probes/registry.hpp"
#include "probes/support/fixed_work.hpp"
#include "probes/support/median.hpp"
#include "results-schema/check.hpp"

namespace fleetbench {
namespace {

TEST(CpuGemm, MeasuresEachPrecisionWithTheWorkThatItCalibrated) {
  const auto probe = make_cpu_gemm();
  const Json params = with_defaults({{"n", 128}, {"seconds", 0.02}}, probe->info().params_schema);
  const auto metrics = probe->metrics(params);
  ASSERT_EQ(metrics.size(), 2U);
  EXPECT_EQ(metrics[0].name, "fp32");
  EXPECT_EQ(metrics[1].name, "fp64");
  const Json work = probe->calibrate(params);
  EXPECT_EQ(work.at("n"), 128);
  EXPECT_GE(work.at("iterations").at("fp32"), 1);
  const auto measurement = probe->prepare(params, work)->measure();
  ASSERT_EQ(measurement.values.size(), 2U);
  for (const auto& value : measurement.values) {
    EXPECT_TRUE(std::isfinite(*value));
    EXPECT_GT(*value, 0);
  }
  EXPECT_EQ(measurement.detail.at("repetition_s").size(), 2U);
}

TEST(CpuGemm, ItsParametersAreChecked) {
  const auto schema = make_cpu_gemm()->info().params_schema;
  EXPECT_TRUE(check_against(Json::object(), schema).empty());
  for (const char* bad : {R"({"precisions": []})", R"({"precisions": ["fp16"]})", R"({"n": -1})",
                          R"({"n": 1.5})", R"({"seconds": 0})", R"({"size": 3})"}) {
    EXPECT_EQ(check_against(Json::parse(bad), schema).size(), 1U) << bad;
  }
}

TEST(FixedWork, RunsTheBodyAsOftenAsItWasTold) {
  int calls = 0;
  const auto seconds = time_fixed_work("count", 7, 3, [&] { ++calls; });
  EXPECT_EQ(seconds.size(), 3U);
  EXPECT_EQ(calls, 21);
}

TEST(FixedWork, AnExceptionOfTheBodyPassesThrough) {
  EXPECT_THROW(time_fixed_work("throws", 1, 1, [] { throw WrongResult("x"); }), WrongResult);
}

TEST(Median, OfEvenAndOddCounts) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

}  // namespace
}  // namespace fleetbench
