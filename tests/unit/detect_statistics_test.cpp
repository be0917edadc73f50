#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "harness/detect/robust.hpp"
#include "harness/detect/student.hpp"
#include "harness/detect/table.hpp"
#include "harness/detect/tail_shapes.hpp"
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

TEST(Robust, QnIsTheKthSmallestGap) {
  EXPECT_EQ(pairwise_gap({}), 0);
  EXPECT_EQ(pairwise_gap(std::vector{5.0}), 0);
  EXPECT_EQ(pairwise_gap(std::vector{5.0, 2.0}), 3);
  // k is 3 of 6 gaps, 3 of 10, 6 of 15.
  EXPECT_EQ(pairwise_gap(std::vector{6.0, 0.0, 4.0, 1.0}), 3);              // 1 2 3 4 5 6
  EXPECT_EQ(pairwise_gap(std::vector{0.0, 1.0, 3.0, 7.0, 15.0}), 3);        // 1 2 3 4 6 …
  EXPECT_EQ(pairwise_gap(std::vector{0.0, 1.0, 3.0, 7.0, 15.0, 31.0}), 7);  // 1 2 3 4 6 7 …
  EXPECT_EQ(pairwise_gap(std::vector{2.0, 2.0, 2.0, 9.0}), 0);
}

TEST(Robust, QnFactorsOfOddAndEvenSizesAreInterpolatedApart) {
  EXPECT_EQ(qn_factor(2), 0.887);
  EXPECT_EQ(qn_factor(3), 2.205);
  EXPECT_EQ(qn_factor(64), 2.098);
  EXPECT_GT(qn_factor(13), qn_factor(12));
  EXPECT_GT(qn_factor(13), qn_factor(14));
  EXPECT_NEAR(qn_factor(100001), 2.2191, 1e-3);
  EXPECT_NEAR(qn_factor(100000), 2.2191, 1e-3);
}

double first_factor(std::size_t n, int samples, double (*spread)(std::span<const double>)) {
  std::mt19937_64 random(n);
  std::normal_distribution<double> normal;
  std::vector<double> values(n);
  double sum = 0;
  for (int sample = 0; sample < samples; ++sample) {
    std::generate(values.begin(), values.end(), [&] { return normal(random); });
    sum += spread(values);
  }
  return samples / sum;
}

double mad_of(std::span<const double> values) {
  return deviation(values, median(std::vector<double>(values.begin(), values.end())));
}

// Standard error of each: at most 0.2 %, for the estimates vary by 1 / sqrt(n) about.
TEST(Robust, FactorsAreReproducedBySimulation) {
  for (const std::size_t n : {2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 10U, 12U, 16U, 20U, 32U, 64U, 100U}) {
    const int samples = static_cast<int>(800000 / n);
    EXPECT_NEAR(mad_factor(n) / first_factor(n, samples, mad_of), 1, 0.01) << "MAD of " << n;
    EXPECT_NEAR(qn_factor(n) / first_factor(n, samples, pairwise_gap), 1, 0.01) << "Qn of " << n;
  }
  // Between the table's entries.
  for (const std::size_t n : {11U, 13U, 14U, 15U, 18U, 21U, 33U, 47U, 48U, 80U, 99U}) {
    const int samples = static_cast<int>(600000 / n);
    EXPECT_NEAR(qn_factor(n) / first_factor(n, samples, pairwise_gap), 1, 0.01) << "Qn of " << n;
  }
}

TEST(Robust, SigmaOfFewAndOfManyIsThatOfTheSample) {
  std::mt19937 random(4);
  std::normal_distribution<double> normal(7, 0.02);
  for (const std::size_t n : {30U, 31U, 100U, 101U, 400U}) {
    double sum = 0;
    constexpr int kSamples = 2000;
    std::vector<double> values(n);
    for (int sample = 0; sample < kSamples; ++sample) {
      std::generate(values.begin(), values.end(), [&] { return normal(random); });
      sum += robust_sigma(values);
    }
    EXPECT_NEAR(sum / kSamples / 0.02, 1, 0.015) << n;
  }
  EXPECT_EQ(robust_sigma({}), 0);
  EXPECT_EQ(robust_sigma(std::vector{3.0}), 0);
  EXPECT_NEAR(robust_sigma(std::vector{3.0, 4.0}), 0.887, 1e-12);
}

TEST(Robust, VarianceOfTheMedianIsOnTheSafeSide) {
  const double exact[] = {1, 0.5, 0.4487, 0.2982, 0.2868, 0.2147};
  for (std::size_t n = 1; n <= std::size(exact); ++n) {
    EXPECT_GE(median_variance(n), exact[n - 1] * 0.99) << n;
    EXPECT_LE(median_variance(n), exact[n - 1] * 1.3) << n;
  }
}

TEST(Table, PassSigmaNeedsTwoPassesOfOneSubject) {
  const std::vector<std::vector<double>> single{{1.0, kAbsent}, {kAbsent, 5.0}};
  EXPECT_FALSE(pass_sigma(single));
  EXPECT_NEAR(*pass_sigma(std::vector<std::vector<double>>{{1.0, 1.2}}), 0.2 * 1.04836, 1e-12);
  std::mt19937 random(2);
  std::normal_distribution<double> normal(0, 0.03);
  std::vector<std::vector<double>> subjects(500, std::vector<double>(3));
  for (std::vector<double>& subject : subjects) {
    std::generate(subject.begin(), subject.end(), [&] { return normal(random); });
  }
  EXPECT_NEAR(*pass_sigma(subjects), 0.03, 0.002);
}

TEST(Tails, CurvesAreThoseOfStudentsT) {
  for (const double degrees : {2.8, 4.0, 15.0, 190.0}) {
    const StudentCurve curve(degrees);
    for (const double t : {-1.0, 0.3, 1.0, 1.03, 2.71, 6.0, 20.0, 62.0, 100.0}) {
      EXPECT_NEAR(curve.tail(t) / student_tail(t, degrees), 1, 1e-6 * (1 + t * t)) << degrees << t;
    }
  }
}

TEST(Tails, QuantilesInvertProbabilities) {
  std::mt19937 random(3);
  std::student_t_distribution<double> heavy(4);
  std::vector<double> scores(500);
  std::generate(scores.begin(), scores.end(), [&] { return heavy(random) / std::sqrt(2); });
  for (const Tail& tail : {fit_tail({}), fit_tail(scores)}) {
    for (const double p : {0.3, 1e-2, 1e-5, 1e-9, 1e-30}) {
      EXPECT_NEAR(tail_probability(tail, tail_quantile(tail, p)) / p, 1, 1e-5) << p;
    }
  }
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
  std::generate(heavy_scores.begin(), heavy_scores.end(),
                [&] { return heavy(random) / std::sqrt(2); });
  EXPECT_GT(tail_degrees(light_scores), 15);
  EXPECT_LT(tail_degrees(heavy_scores), 6);
  light_scores.push_back(50);  // a fault, not a tail
  EXPECT_GT(tail_degrees(light_scores), 15);
}

}  // namespace
}  // namespace fleetbench::detect
