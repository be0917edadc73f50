#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "harness/detect/robust.hpp"
#include "harness/detect/student.hpp"
#include "harness/detect/tails.hpp"

namespace fleetbench::detect {
namespace {

TEST(IncompleteBeta, HasItsClosedForms) {
  EXPECT_DOUBLE_EQ(incomplete_beta(1, 1, 0.3), 0.3);
  EXPECT_NEAR(incomplete_beta(1, 3, 0.3), 1 - std::pow(0.7, 3), 1e-14);
  EXPECT_NEAR(incomplete_beta(4, 1, 0.6), std::pow(0.6, 4), 1e-14);
  EXPECT_NEAR(incomplete_beta(2.5, 1.5, 0.4), 1 - incomplete_beta(1.5, 2.5, 0.6), 1e-14);
  EXPECT_EQ(incomplete_beta(2, 3, 0), 0);
  EXPECT_EQ(incomplete_beta(2, 3, 1), 1);
}

TEST(Student, TailsAgreeWithTables) {
  struct Case {
    double degrees;
    double t;
    double p;
  };
  // Upper percentage points, Abramowitz & Stegun table 26.10; closed forms for 1, 2 and 4 degrees.
  for (const Case& c :
       {Case{1, 12.706, 0.025}, Case{2, 4.303, 0.025}, Case{4, 2.776, 0.025}, Case{5, 4.032, 0.005},
        Case{10, 2.228, 0.025}, Case{30, 2.750, 0.005}, Case{120, 3.373, 0.0005}}) {
    EXPECT_NEAR(student_tail(c.t, c.degrees) / c.p, 1, 2e-3) << c.degrees;
    EXPECT_NEAR(student_quantile(c.p, c.degrees) / c.t, 1, 1e-3) << c.degrees;
  }
}

TEST(Student, FarTailsKeepTheirPrecision) {
  // Exact for 1 degree: atan(1 / t) / pi; for 2: 1/2 - t / (2 sqrt(2 + t^2)) ~ 1 / (2 t^2).
  EXPECT_NEAR(student_tail(1e6, 1) / (std::atan(1e-6) / M_PI), 1, 1e-9);
  EXPECT_NEAR(student_tail(1e6, 2) * 2e12, 1, 1e-6);
  EXPECT_NEAR(student_tail(student_quantile(1e-12, 4.74), 4.74) / 1e-12, 1, 1e-6);
  EXPECT_NEAR(student_tail(-2.0, 7) + student_tail(2.0, 7), 1, 1e-14);
  EXPECT_DOUBLE_EQ(student_tail(0, 3), 0.5);
}

TEST(Robust, MedianOfTables) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({4, 1}), 2.5);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({1, 100, 2, 3}), 2.5);
}

TEST(Robust, MadFactorIsInterpolatedBetweenItsTable) {
  EXPECT_EQ(mad_factor(2), 1.773);
  EXPECT_EQ(mad_factor(16), 1.563);
  EXPECT_NEAR(mad_factor(14), 1.577, 1e-3);
  EXPECT_GT(mad_factor(40), mad_factor(64));
  EXPECT_NEAR(mad_factor(100000), 1.4826, 1e-4);
}

// The constants of detection.md, section 3, by simulation of our own.
TEST(Robust, MadFactorsAreReproduced) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (const std::size_t n : {2U, 3U, 4U, 5U, 8U, 16U}) {
    constexpr int kSamples = 200000;
    double sum = 0;
    std::vector<double> values(n);
    for (int sample = 0; sample < kSamples; ++sample) {
      std::generate(values.begin(), values.end(), [&] { return normal(random); });
      sum += deviation(values, median(values));
    }
    EXPECT_NEAR(mad_factor(n) * sum / kSamples, 1, 0.01) << n;
  }
}

TEST(Robust, VarianceOfTheMedianIsOnTheSafeSide) {
  const double exact[] = {1, 0.5, 0.4487, 0.2982, 0.2868, 0.2147};
  for (std::size_t n = 1; n <= std::size(exact); ++n) {
    EXPECT_GE(median_variance(n), exact[n - 1] * 0.99) << n;
    EXPECT_LE(median_variance(n), exact[n - 1] * 1.3) << n;
  }
}

TEST(Robust, PassSigmaNeedsTwoPassesOfOneSubject) {
  const std::vector<Passes> single{{1.0, std::nullopt}, {std::nullopt, 5.0}};
  EXPECT_FALSE(pass_sigma(single));
  EXPECT_NEAR(*pass_sigma(Passes{1.0, 1.2}), 0.2 * 1.04836, 1e-12);
  std::mt19937 random(2);
  std::normal_distribution<double> normal(0, 0.03);
  std::vector<Passes> subjects(500, Passes(3));
  for (Passes& subject : subjects) {
    std::generate(subject.begin(), subject.end(), [&] { return normal(random); });
  }
  EXPECT_NEAR(*pass_sigma(subjects), 0.03, 0.002);
}

TEST(Robust, HolmStepsDown) {
  EXPECT_TRUE(holm({}).empty());
  const std::vector<double> adjusted = holm({0.04, 0.001, 0.03});
  EXPECT_DOUBLE_EQ(adjusted[1], 0.003);
  EXPECT_DOUBLE_EQ(adjusted[2], 0.06);
  EXPECT_DOUBLE_EQ(adjusted[0], 0.06);  // never below a smaller p
  EXPECT_EQ(holm({0.9, 0.8})[0], 1);
}

TEST(Tails, FollowTheDataAndStayNearThePriorWithoutThem) {
  EXPECT_NEAR(tail_degrees({}), 8, 1);
  EXPECT_NEAR(tail_degrees({0.1, -0.3, 1.1, -0.9}), 8, 2);
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  std::student_t_distribution<double> heavy(4);
  std::vector<double> light_scores(2000);
  std::vector<double> heavy_scores(2000);
  std::generate(light_scores.begin(), light_scores.end(), [&] { return normal(random); });
  std::generate(heavy_scores.begin(), heavy_scores.end(), [&] { return heavy(random) / std::sqrt(2); });
  EXPECT_GT(tail_degrees(light_scores), 15);
  EXPECT_LT(tail_degrees(heavy_scores), 6);
  light_scores.push_back(50);  // a fault, not a tail
  EXPECT_GT(tail_degrees(light_scores), 15);
}

}  // namespace
}  // namespace fleetbench::detect
