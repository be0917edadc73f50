// The parts that the detector's statistics are made of, against tables and numbers by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "harness/detect/clean_set.hpp"
#include "harness/detect/normal.hpp"
#include "harness/detect/populations.hpp"
#include "harness/detect/prior.hpp"
#include "harness/detect/student.hpp"

namespace fleetbench::detect {
namespace {

constexpr double kPi = std::numbers::pi;

TEST(Normal, TailAndQuantileAgreeWithTables) {
  EXPECT_DOUBLE_EQ(normal_tail(0), 0.5);
  EXPECT_NEAR(normal_tail(1.959963984540054) / 0.025, 1, 1e-12);
  EXPECT_NEAR(normal_tail(10) / 7.619853024160527e-24, 1, 1e-9);
  EXPECT_NEAR(normal_quantile(0.025), 1.959963984540054, 1e-9);
  for (const double p : {0.9, 0.5, 0.1, 1e-3, 1e-9, 1e-30}) {
    EXPECT_NEAR(normal_tail(normal_quantile(p)) / p, 1, 1e-9) << p;
  }
}

TEST(Normal, ScoresAndTheirInverse) {
  for (const double degrees : {1.0, 3.0, 4.5, 10.0, 30.0, 200.0}) {
    for (const double z : {-8.0, -3.0, -0.5, 0.0, 0.1, 1.0, 2.5, 6.0}) {
      EXPECT_NEAR(normal_score(score_of_normal(z, degrees), degrees), z, 1e-9) << degrees;
    }
  }
}

TEST(Normal, ScoresAreAsFarOutAsStudentsT) {
  for (const double degrees : {3.0, 4.0, 6.0, 10.0, 30.0, 100.0}) {
    for (const double t : {1.0, 2.0, 4.0, 8.0, 16.0}) {
      const double exact = normal_quantile(student_tail(t, degrees));
      EXPECT_NEAR(normal_score(t, degrees) / exact, 1, 0.05) << degrees << ' ' << t;
      EXPECT_DOUBLE_EQ(normal_score(-t, degrees), -normal_score(t, degrees));
    }
    const double far = normal_quantile(student_tail(30, degrees));
    EXPECT_LE(normal_score(30, degrees), far * 1.001) << "on the safe side far out, " << degrees;
  }
  EXPECT_NEAR(normal_score(3, 1e6), 3, 1e-4);
}

TEST(Normal, CentralVarianceIsThatOfTheCentralShare) {
  EXPECT_EQ(central_variance(1), 1);
  for (const double share : {0.5, 0.75, 0.9, 0.99}) {
    const double edge = normal_quantile((1 - share) / 2);
    constexpr int kSteps = 20000;
    double sum = 0;
    for (int i = 0; i < kSteps; ++i) {
      const double z = edge * (2 * (i + 0.5) / kSteps - 1);
      sum += z * z * std::exp(-z * z / 2) / std::sqrt(2 * kPi) * 2 * edge / kSteps;
    }
    EXPECT_NEAR(central_variance(share), sum / share, 1e-6) << share;
  }
}

TEST(Gamma, DerivativesHaveTheirKnownValues) {
  const double euler = std::numbers::egamma;
  EXPECT_NEAR(digamma(1), -euler, 1e-8);
  EXPECT_NEAR(digamma(0.5), -euler - 2 * std::numbers::ln2, 1e-8);
  EXPECT_NEAR(digamma(10), 2.251752589066721, 1e-8);
  EXPECT_NEAR(trigamma(1), kPi * kPi / 6, 1e-8);
  EXPECT_NEAR(trigamma(0.5), kPi * kPi / 2, 1e-8);
  EXPECT_NEAR(trigamma(10), 0.10516633568168575, 1e-8);
  EXPECT_NEAR(inverse_trigamma(kPi * kPi / 6), 1, 1e-7);
  EXPECT_NEAR(inverse_trigamma(kPi * kPi / 2), 0.5, 1e-7);
  for (const double y : {1e-4, 0.01, 1.0, 50.0, 1e4}) {
    EXPECT_NEAR(trigamma(inverse_trigamma(y)) / y, 1, 1e-8) << y;
  }
}

std::vector<SampleVariance> variances(const std::vector<double>& of, double degrees) {
  std::vector<SampleVariance> result;
  for (const double variance : of) {
    result.push_back({variance, degrees});
  }
  return result;
}

TEST(LearntPriors, EqualVariancesAreWorthManyDegrees) {
  const auto priors = learnt_priors(
      {variances({4, 4, 4, 4, 4, 4}, 31), variances({100, 100, 100, 100, 100, 100}, 31)});
  ASSERT_EQ(priors.size(), 2U);
  EXPECT_GT(priors[0].degrees, 60);
  EXPECT_NEAR(priors[0].variance / 4, 1, 0.06);
  EXPECT_NEAR(priors[1].variance / 100, 1, 0.06) << "each layer has a mean of its own";
}

TEST(LearntPriors, AreThoseThatTheVariancesWereDrawnFrom) {
  // 200 layers' worth of metrics: inverse chi-squared about 0.01 with 12 degrees, seen with 20.
  constexpr double kVariance = 0.01;
  constexpr double kDegrees = 12;
  std::mt19937 random(5);
  std::chi_squared_distribution<double> true_ones(kDegrees);
  std::chi_squared_distribution<double> seen(20);
  std::vector<SampleVariance> layer;
  for (int i = 0; i < 4000; ++i) {
    const double variance = kVariance * kDegrees / true_ones(random);
    layer.push_back({variance * seen(random) / 20, 20});
  }
  const Prior prior = learnt_priors({layer})[0];
  EXPECT_NEAR(prior.variance / kVariance, 1, 0.05);
  EXPECT_NEAR(prior.degrees / kDegrees, 1, 0.2);
}

TEST(LearntPriors, WildVariancesAreWorthLittle) {
  const auto priors = learnt_priors({variances({1e-6, 1e-4, 1e-2, 1, 1e-5, 1e-1}, 31)});
  EXPECT_GT(priors[0].degrees, 0);
  EXPECT_LT(priors[0].degrees, 2);
}

TEST(LearntPriors, NeedSomethingToLearnFrom) {
  EXPECT_TRUE(learnt_priors({}).empty());
  EXPECT_EQ(learnt_priors({variances({1}, 31)})[0].degrees, 0);
  EXPECT_EQ(learnt_priors({variances({1, 1}, 31)})[0].degrees, 0);
  EXPECT_EQ(learnt_priors({{}, variances({1, 1, 1}, 31)})[0].degrees, 0);
  EXPECT_GT(learnt_priors({{}, variances({1, 1, 1}, 31)})[1].degrees, 0);
  // A metric that never varies says nothing of those that do.
  const auto with = learnt_priors({variances({1, 1, 1, 0}, 31)})[0];
  const auto without = learnt_priors({variances({1, 1, 1}, 31)})[0];
  EXPECT_EQ(with.degrees, without.degrees);
  EXPECT_EQ(with.variance, without.variance);
}

TEST(CleanSet, TwoOutliersOfTenDoNotHideEachOther) {
  const std::vector<double> values{0.1, 5.1, -0.2, 0, 0.3, -0.1, 5, 0.2, -0.3, 0.05};
  const CleanSet clean(values, {}, {});
  EXPECT_EQ(clean.size(), 8U);
  EXPECT_FALSE(clean.contains(1));
  EXPECT_FALSE(clean.contains(6));
  EXPECT_TRUE(clean.contains(8));
  EXPECT_NEAR(clean.without(1).centre, 0.05 / 8, 1e-12) << "who is no member changes nothing";
  EXPECT_EQ(clean.without(1).degrees, clean.all().degrees);
}

TEST(CleanSet, LeavesOneOut) {
  const std::vector<double> values{101, 102, 103, 104};
  const CleanSet clean(values, {}, {});
  ASSERT_EQ(clean.size(), 4U);
  EXPECT_NEAR(clean.all().centre, 102.5, 1e-12);
  EXPECT_NEAR(clean.all().variance, 5.0 / 3, 1e-12);
  EXPECT_EQ(clean.all().degrees, 3);
  EXPECT_EQ(clean.all().centre_variance, 0.25);
  const Spread others = clean.without(0);
  EXPECT_NEAR(others.centre, 103, 1e-12);
  EXPECT_NEAR(others.variance, 1, 1e-12);
  EXPECT_EQ(others.degrees, 2);
  EXPECT_NEAR(others.centre_variance, 1.0 / 3, 1e-12);
}

TEST(CleanSet, MixesInThePriorAndPaysForFittedParameters) {
  const std::vector<double> values{1, 2, 3, 4};
  const Spread mixed = CleanSet(values, {}, {4, 6}).without(0);
  EXPECT_EQ(mixed.degrees, 8);
  EXPECT_NEAR(mixed.variance, (2 * 1 + 6 * 4) / 8.0, 1e-12);
  // One parameter of four values: three of them pay three quarters of it.
  const Spread fitted = CleanSet(values, {.fitted = 1}, {}).without(0);
  EXPECT_NEAR(fitted.variance, 2 / 1.25, 1e-12);
  EXPECT_NEAR(fitted.degrees, 1.25, 1e-12);
  const Spread floored = CleanSet(values, {.least_variance = 9}, {}).without(0);
  EXPECT_EQ(floored.variance, 9);
}

TEST(CleanSet, WithAFixedCentreOnlyThePriorTells) {
  const std::vector<double> values{0.1, -0.1, 0.3, 0.2, 10};
  const CleanSet clean(values, {.fixed_centre = true}, {0.04, 10});
  EXPECT_EQ(clean.size(), 4U);
  EXPECT_FALSE(clean.contains(4));
  for (const Spread& spread : {clean.all(), clean.without(0), clean.without(4)}) {
    EXPECT_EQ(spread.centre, 0);
    EXPECT_EQ(spread.centre_variance, 0);
    EXPECT_NEAR(spread.variance, 0.04, 1e-12);
    EXPECT_EQ(spread.degrees, 10);
  }
}

TEST(CleanSet, OfNothingAndOfOne) {
  const CleanSet none({}, {}, {2, 4});
  EXPECT_EQ(none.size(), 0U);
  EXPECT_EQ(none.all().variance, 2);
  EXPECT_EQ(none.all().degrees, 4);
  const std::vector<double> single{7};
  const CleanSet one(single, {}, {2, 4});
  EXPECT_EQ(one.size(), 1U);
  EXPECT_EQ(one.all().centre, 7);
  EXPECT_EQ(one.all().centre_variance, 1);
  EXPECT_EQ(one.all().variance, 2);
  EXPECT_EQ(one.without(0).variance, 2);
}

TEST(Populations, AreSplitAtAWideGap) {
  const auto split = split_of({11, 0, 12, 1, std::nan(""), 10, 2});
  ASSERT_TRUE(split);
  EXPECT_EQ(split->border, 6);
  EXPECT_EQ(split->slow, 3U);
  EXPECT_EQ(split->fast, 3U);
}

TEST(Populations, OutliersAreNone) {
  EXPECT_FALSE(split_of({}));
  EXPECT_FALSE(split_of({0, 1, 2, 10, 11})) << "two of five";
  EXPECT_FALSE(split_of({0, 1, 2, 5, 6, 7})) << "a gap of three sigma";
  std::vector<double> values;
  for (int i = 0; i < 40; ++i) {
    values.push_back(i < 3 ? 100 + i : i * 0.1);
  }
  EXPECT_FALSE(split_of(values)) << "three of forty are less than a tenth";
  values[3] = 103;
  EXPECT_TRUE(split_of(values));
}

}  // namespace
}  // namespace fleetbench::detect
