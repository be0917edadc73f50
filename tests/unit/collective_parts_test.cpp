// What probes of collectives share: sizes, counts and factors as nccl-tests has them, exact data,
// clocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "probes/support/collective_params.hpp"
#include "probes/support/exact_data.hpp"
#include "probes/support/member_clock.hpp"

namespace fleetbench {
namespace {

TEST(CollectiveParams, SizesGrowByTheFactorUpToTheEnd) {
  EXPECT_EQ(size_sweep(8, 4 << 20, 8),
            (std::vector<std::size_t>{8, 64, 512, 4096, 32768, 262144, 2097152}));
  EXPECT_EQ(size_sweep(8, 64, 8), (std::vector<std::size_t>{8, 64}));
  EXPECT_EQ(size_sweep(8, 63, 8), std::vector<std::size_t>{8});
  EXPECT_EQ(size_sweep(1024, 8, 2), std::vector<std::size_t>{1024});
  EXPECT_EQ(size_sweep(std::size_t{1} << 32, std::size_t{8} << 30, 2),
            (std::vector<std::size_t>{std::size_t{1} << 32, std::size_t{8} << 30}));
}

TEST(CollectiveParams, SizesAreNamedExactly) {
  const std::vector<std::pair<std::size_t, std::string>> names{{8, "8"},
                                                               {1000, "1000"},
                                                               {1024, "1K"},
                                                               {1536, "1536"},
                                                               {4096, "4K"},
                                                               {1 << 20, "1M"},
                                                               {(1 << 20) + 4, "1048580"},
                                                               {3 << 20, "3M"},
                                                               {1 << 30, "1G"},
                                                               {std::size_t{8} << 30, "8G"}};
  for (const auto& [bytes, name] : names) {
    EXPECT_EQ(size_name(bytes), name);
  }
  EXPECT_EQ(busbw_name("all_reduce", 4 << 20), "all_reduce.busbw.4M");
  EXPECT_EQ(size_text(8), "8 bytes");
  EXPECT_EQ(size_text(1536), "1536 bytes");
  EXPECT_EQ(size_text(4096), "4 KiB");
  EXPECT_EQ(size_text(std::size_t{8} << 30), "8 GiB");
}

TEST(CollectiveParams, FewerIterationsWhereTheyWouldTakeTooLong) {
  EXPECT_EQ(iterations_that_fit(0.3, 3, 1.0, 20), 10);
  EXPECT_EQ(iterations_that_fit(0.003, 3, 1.0, 20), 20);
  EXPECT_EQ(iterations_that_fit(0.0, 3, 1.0, 20), 20);
  EXPECT_EQ(iterations_that_fit(30.0, 3, 1.0, 20), 1);
}

TEST(CollectiveParams, TheSchemaOffersWhatTheProbeCanDo) {
  const Json properties = sweep_properties(
      {.collectives = {"reduce", "sendrecv"}, .end_bytes = 4096, .largest_bytes = 8LL << 30});
  Json params = Json::object();
  for (const auto& [name, property] : properties.items()) {
    params[name] = property.at("default");
  }
  EXPECT_EQ(properties.at("end_bytes").at("maximum"), 8LL << 30);
  const SweepParams sweep = sweep_params(params);
  EXPECT_EQ(sweep.collectives, (std::vector<std::string>{"reduce", "sendrecv"}));
  EXPECT_EQ(sweep.sizes_bytes, (std::vector<std::size_t>{8, 64, 512, 4096}));
  EXPECT_EQ(sweep.iterations, 20);
}

// Against the definitions in nccl-tests' sources, and rows of its logs (two ranks on H100s over
// InfiniBand, double, whose count is half of a float's).
TEST(CollectiveRule, CountsAndFactorsAreThoseOfNcclTests) {
  struct Case {
    const char* name;
    std::size_t bytes, members, count, measured_bytes;
    double factor;
  };
  const Case cases[] = {
      {"all_reduce", 1 << 20, 4, 1 << 18, 1 << 20, 1.5},
      {"all_reduce", 8, 4, 2, 8, 1.5},
      {"all_gather", 65536, 4, 4096, 65536, 0.75},
      {"all_gather", 64, 4, 4, 64, 0.75},
      {"all_gather", 60, 4, 0, 0, 0.75},
      {"reduce_scatter", 1 << 20, 3, 87380, 1048560, 2.0 / 3},
      {"all_to_all", 4194304, 32, 32768, 4194304, 31.0 / 32},
      {"all_to_all", 512, 3, 40, 480, 2.0 / 3},
      {"all_to_all", 33554432, 2, 2 * 2097152, 33554432, 0.5},
      {"broadcast", 65536, 4, 16384, 65536, 1},
      {"reduce", 65536, 4, 16384, 65536, 1},
      {"reduce", 12, 4, 3, 12, 1},
      {"sendrecv", 33554432, 2, 2 * 4194304, 33554432, 1},
      {"sendrecv", std::size_t{8} << 30, 16, std::size_t{1} << 31, std::size_t{8} << 30, 1}};
  for (const Case& c : cases) {
    const CollectiveRule& rule = *find_collective_rule(c.name);
    EXPECT_EQ(rule.count(c.bytes, c.members), c.count) << c.name;
    EXPECT_EQ(rule.bytes(c.count, c.members), c.measured_bytes) << c.name;
    EXPECT_NEAR(rule.busbw_factor(c.members), c.factor, 1e-12) << c.name;
  }
}

TEST(CollectiveRule, RowsOfRealLogsComeOutAgain) {
  struct Row {
    const char* name;
    std::size_t bytes;
    double time_us, algbw_gb_s, busbw_gb_s;
  };
  const Row rows[] = {{"all_to_all", 33554432, 1292.74, 25.96, 12.98},
                      {"all_to_all", 1073741824, 39991.8, 26.85, 13.42},
                      {"all_to_all", 8589934592, 320694, 26.79, 13.39},
                      {"sendrecv", 33554432, 2532.36, 13.25, 13.25},
                      {"sendrecv", 134217728, 9963.69, 13.47, 13.47}};
  for (const Row& row : rows) {
    const CollectiveRule& rule = *find_collective_rule(row.name);
    const auto bytes = static_cast<double>(rule.bytes(rule.count(row.bytes, 2), 2));
    const double algbw = bytes / row.time_us / 1e3;
    EXPECT_NEAR(algbw, row.algbw_gb_s, 0.0051) << row.name;
    EXPECT_NEAR(algbw * rule.busbw_factor(2), row.busbw_gb_s, 0.0051) << row.name;
  }
}

TEST(CollectiveRule, RootAndOperationAreThoseThatNcclTestsPrints) {
  const std::vector<std::tuple<std::string, std::string, int>> printed{
      {"all_reduce", "sum", -1},  {"all_gather", "none", -1}, {"reduce_scatter", "sum", -1},
      {"all_to_all", "none", -1}, {"broadcast", "none", 0},   {"reduce", "sum", 0},
      {"sendrecv", "sum", -1}};
  ASSERT_EQ(collective_rules().size(), printed.size());
  ASSERT_EQ(collective_shapes().size(), printed.size());
  for (std::size_t i = 0; i < printed.size(); ++i) {
    const CollectiveRule& rule = collective_rules()[i];
    EXPECT_EQ(std::tuple(std::string(rule.name), std::string(rule.redop), rule.root), printed[i]);
    EXPECT_EQ(collective_shapes()[i].rule, &rule);
    EXPECT_EQ(&collective_shape(rule.name), &collective_shapes()[i]);
  }
  EXPECT_EQ(find_collective_rule("all_red"), nullptr);
  EXPECT_THROW(collective_shape("all_red"), std::invalid_argument);
}

// What a member receives, by the definition of each collective; empty where it receives nothing.
std::vector<float> received(const std::string& name, std::size_t count, std::size_t me,
                            const std::vector<std::vector<float>>& sent) {
  const auto part = [&](std::size_t sender, std::size_t first) {
    const auto begin = sent[sender].begin() + static_cast<std::ptrdiff_t>(first);
    return std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  std::vector<float> result;
  if (name == "all_reduce" || name == "reduce_scatter" || (name == "reduce" && me == 0)) {
    result.assign(count, 0.0F);
    for (std::size_t sender = 0; sender < sent.size(); ++sender) {
      const auto theirs = part(sender, name == "reduce_scatter" ? me * count : 0);
      std::ranges::transform(result, theirs, result.begin(), std::plus<>());
    }
  } else if (name == "broadcast" && me != 0) {
    result = part(0, 0);
  } else if (name == "sendrecv") {
    result = part(me == 0 ? sent.size() - 1 : me - 1, 0);
  } else if (name == "all_gather" || name == "all_to_all") {
    for (std::size_t sender = 0; sender < sent.size(); ++sender) {
      const auto theirs = part(sender, name == "all_gather" ? 0 : me * count);
      result.insert(result.end(), theirs.begin(), theirs.end());
    }
  }
  return result;
}

class ExactDataTest : public testing::Test {
 protected:
  static constexpr std::size_t kMembers = 5;
  static constexpr std::size_t kCount = 3000;

  ExactDataTest() : sent_(kMembers, std::vector<float>(kCount * kMembers)) {
    for (std::size_t member = 0; member < kMembers; ++member) {
      data_.fill(sent_[member], member);
    }
  }

  ExactData data_{kMembers};
  std::vector<std::vector<float>> sent_;
};

TEST_F(ExactDataTest, EveryWrongElementOfEveryCollectiveIsCounted) {
  for (const CollectiveShape& shape : collective_shapes()) {
    for (std::size_t me = 0; me < kMembers; ++me) {
      const std::string name(shape.rule->name);
      std::vector<float> got = received(name, kCount, me, sent_);
      if (got.empty()) {
        EXPECT_TRUE(data_.expected(shape, kCount, me).empty()) << name << me;
        continue;
      }
      EXPECT_EQ(got.size(), shape.receive_count(kCount, kMembers)) << name;
      EXPECT_EQ(data_.compare(shape, got, kCount, me).count, 0U) << name << me;
      got[2999] += 1.0F;
      got[1021] += 1.0F;
      const WrongElements two = data_.compare(shape, got, kCount, me);
      EXPECT_EQ(two.count, 2U) << name << me;
      ASSERT_TRUE(two.first);
      EXPECT_EQ(two.first->element, 1021U);
      EXPECT_EQ(two.first->got, two.first->expected + 1.0F);
      std::ranges::rotate(got, got.begin() + 1);
      EXPECT_GT(data_.compare(shape, got, kCount, me).count, kCount / 2) << name << me;
    }
  }
}

TEST_F(ExactDataTest, AnElementOfAPartIsToldByItself) {
  const CollectiveShape& shape = collective_shape("all_to_all");
  const auto parts = data_.expected(shape, kCount, 3);
  ASSERT_EQ(parts.size(), kMembers);
  EXPECT_EQ(parts[4].place, 4 * kCount);
  for (const std::size_t i : {0U, 1020U, 1021U, 2999U}) {
    EXPECT_EQ(data_.value_at(parts[4], i), sent_[4][3 * kCount + i]);
  }
  const auto sums = data_.expected(collective_shape("all_reduce"), kCount, 3);
  EXPECT_EQ(data_.value_at(sums.at(0), 2999),
            sent_[0][2999] + sent_[1][2999] + sent_[2][2999] + sent_[3][2999] + sent_[4][2999]);
}

TEST(MemberClock, TheShortestPingCounts) {
  // The other clock is 1000 ahead; the first answer was held up on its way back.
  const ClockPing pings[] = {{100, 1110, 160}, {200, 1205, 210}, {300, 1320, 330}};
  const MemberClock clock = clock_from(pings);
  EXPECT_EQ(clock.offset_ns, 1000);
  EXPECT_EQ(clock.uncertainty_ns, 5);
}

TEST(MemberClock, TheUncertaintyHoldsWhereverTheAnswerWasGiven) {
  for (std::int64_t answered = 0; answered <= 7; ++answered) {
    const ClockPing ping[] = {{50, 50 + answered - 300, 57}};
    const MemberClock clock = clock_from(ping);
    EXPECT_LE(std::abs(clock.offset_ns + 300), clock.uncertainty_ns) << answered;
  }
}

}  // namespace
}  // namespace fleetbench
