#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>

#include "probes/memory/memory_arrays.hpp"
#include "probes/memory/memory_kernels.hpp"
#include "probes/memory/memory_pattern.hpp"
#include "probes/memory/memory_room.hpp"
#include "probes/registry.hpp"
#include "results-schema/check.hpp"
#include "temporary_directory.hpp"

namespace fleetbench {
namespace {

constexpr std::size_t kArrayBytes = 1 << 20;

template <typename Error>
std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no such error";
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// hwloc sees this machine instead of the real one, and binds nothing.
class PretendedTopology {
 public:
  explicit PretendedTopology(const char* synthetic) { setenv("HWLOC_SYNTHETIC", synthetic, 1); }
  ~PretendedTopology() { unsetenv("HWLOC_SYNTHETIC"); }
  PretendedTopology(const PretendedTopology&) = delete;
  PretendedTopology& operator=(const PretendedTopology&) = delete;
};

TEST(MemoryKernels, ComputeWhatTheySay) {
  std::vector<double> a(1024);
  std::vector<double> b(1024);
  std::vector<double> c(1024);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<double>(i);
    b[i] = static_cast<double>(2 * i + 1);
  }
  memory_kernels::copy(c.data(), a.data(), a.size());
  EXPECT_EQ(c, a);
  memory_kernels::triad(a.data(), b.data(), c.data(), a.size());
  EXPECT_EQ(a[0], 1);
  EXPECT_EQ(a[1000], 2001 + 3 * 1000);
  EXPECT_EQ(memory_kernels::read(c.data(), c.size()), 1024 * 1023 / 2);
}

TEST(MemoryPattern, FindsTheWordThatIsFalse) {
  std::vector<std::uint64_t> words(1000);
  for (const bool complement : {false, true}) {
    const MemoryPattern pattern{.round = 3, .complement = complement};
    write_pattern(pattern, words, 5000);
    EXPECT_FALSE(first_false_word(pattern, words, 5000));
    EXPECT_TRUE(first_false_word(pattern, words, 5001)) << "read from elsewhere";
    words[123] ^= 1U << 7;
    const auto found = first_false_word(pattern, words, 5000);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->index, 5123U);
    EXPECT_EQ(found->expected ^ found->got, 1U << 7);
    EXPECT_TRUE(holds(describe(*found), "byte 40984 of it")) << describe(*found);
    EXPECT_TRUE(holds(describe(*found), "1 bit differs")) << describe(*found);
  }
}

TEST(MemoryPattern, EveryBitIsBothAndWordsDifferFromTheirNeighbours) {
  std::set<std::uint64_t> seen;
  for (std::size_t i = 0; i < 100000; ++i) {
    const auto word = pattern_word({}, i);
    EXPECT_EQ(word ^ pattern_word({.complement = true}, i), ~std::uint64_t{0});
    EXPECT_NE(word, pattern_word({.round = 1}, i));
    seen.insert(word);
  }
  EXPECT_EQ(seen.size(), 100000U);
}

TEST(MemoryRoom, SaysWhatIsTooSmall) {
  const TemporaryDirectory root;
  const auto write = [&](const std::string& path, const std::string& text) {
    const auto file = root.path() / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  };
  const HostFiles files(root.path());
  EXPECT_NO_THROW(require_room(1e15, 0.5, files)) << "nothing is known";
  write("proc/meminfo", "MemTotal: 1048576 kB\nMemFree: 1 kB\nMemAvailable: 204800 kB\n");
  EXPECT_NO_THROW(require_room(100e6, 0.5, files));
  EXPECT_TRUE(holds(error_of<NotAvailable>([&] { require_room(600e6, 0.5, files); }),
                    "more than 50 % of the 1.00 GiB"));
  EXPECT_TRUE(holds(error_of<std::runtime_error>([&] { require_room(300e6, 0.5, files); }),
                    "only 0.20 GiB are free"));
  write("proc/self/cgroup", "0::/job\n");
  write("proc/self/mountinfo", "30 1 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  write("sys/fs/cgroup/job/memory.max", "134217728\n");
  EXPECT_TRUE(
      holds(error_of<NotAvailable>([&] { require_room(100e6, 0.5, files); }), "(control group)"));
}

TEST(MemoryArrays, CheckFillAndRunOnSeveralNodes) {
  const MachineTopology topology("node:2 core:3 pu:1");
  MemoryArrays arrays(topology, kArrayBytes);
  EXPECT_EQ(arrays.threads(), 6);
  EXPECT_GE(arrays.array_bytes(), kArrayBytes);
  EXPECT_EQ(arrays.region_bytes(0) + arrays.region_bytes(1), arrays.array_bytes());
  EXPECT_NO_THROW(arrays.check(2));
  arrays.fill();
  for (const auto kernel :
       {MemoryKernel::read, MemoryKernel::copy, MemoryKernel::triad, MemoryKernel::read}) {
    const auto seconds = arrays.time(kernel, 2, 3);
    EXPECT_EQ(seconds.size(), 3U);
    EXPECT_GT(*std::min_element(seconds.begin(), seconds.end()), 0);
  }
  arrays.check_sums();
  for (std::size_t reader : {0U, 1U}) {
    for (std::size_t owner : {0U, 1U}) {
      EXPECT_EQ(arrays.time_read_across(reader, owner, 2).size(), 2U);
    }
  }
}

TEST(MemoryArrays, AWordThatChangesIsAWrongResult) {
  const MachineTopology topology("node:2 core:1 pu:1");
  MemoryArrays arrays(topology, kArrayBytes);
  arrays.fill();
  arrays.array(0).back() += 1;
  EXPECT_TRUE(holds(error_of<WrongResult>([&] { arrays.time(MemoryKernel::read, 1, 2); }),
                    "array a, first written by CPU 1 of NUMA node 1"));
  EXPECT_NO_THROW(arrays.time_read_across(1, 0, 1));
  EXPECT_THROW(arrays.time_read_across(0, 1, 2), WrongResult);
  arrays.time(MemoryKernel::copy, 1, 1);
  arrays.time(MemoryKernel::triad, 1, 1);
  EXPECT_NO_THROW(arrays.check_sums());
  arrays.array(2)[1000] += 1;
  EXPECT_THROW(arrays.check_sums(), WrongResult);
}

Json small_params(const Probe& probe) {
  return with_defaults({{"times_cache", 0}, {"min_bytes", kArrayBytes}, {"seconds", 0.001}},
                       probe.info().params_schema);
}

TEST(HostMemory, MeasuresTheNodeAndNoPairsWhereThereIsOneNumaNode) {
  const PretendedTopology machine("node:1 core:2 pu:1");
  const auto probe = make_host_memory();
  const Json params = small_params(*probe);
  const Json work = probe->calibrate(params);
  EXPECT_GE(work.at("array_bytes"), kArrayBytes);
  const auto measurement = probe->prepare(params, work)->measure();
  ASSERT_EQ(measurement.values.size(), probe->metrics(params).size());
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_GT(measurement.values[i].value(), 0);
  }
  EXPECT_FALSE(measurement.values[3]);
  EXPECT_FALSE(measurement.values[4]);
  EXPECT_EQ(measurement.detail.at("threads"), 2);
  EXPECT_FALSE(measurement.detail.contains("reader_owner_bytes_per_s"));
}

TEST(HostMemory, NearAndFarAreTheSlowestOfAllPairs) {
  const PretendedTopology machine("node:3 core:1 pu:1");
  const auto probe = make_host_memory();
  const Json params = small_params(*probe);
  const auto measurement = probe->prepare(params, probe->calibrate(params))->measure();
  const Json& matrix = measurement.detail.at("reader_owner_bytes_per_s");
  ASSERT_EQ(matrix.size(), 3U);
  double near = INFINITY;
  double far = INFINITY;
  for (std::size_t reader = 0; reader < 3; ++reader) {
    for (std::size_t owner = 0; owner < 3; ++owner) {
      double& slowest = reader == owner ? near : far;
      slowest = std::min(slowest, matrix[reader][owner].get<double>());
    }
  }
  EXPECT_NEAR(measurement.values[3].value(), near, 1);
  EXPECT_NEAR(measurement.values[4].value(), far, 1);
}

TEST(HostMemory, ArraysAreSeveralTimesTheLastCacheOfThisNodeAtLeast) {
  const auto probe = make_host_memory();
  Json params = small_params(*probe);
  params["times_cache"] = 4;
  Json work;
  {
    const PretendedTopology machine("node:1 l3:1(size=1048576) core:1 pu:1");
    work = probe->calibrate(params);
    EXPECT_EQ(work.at("array_bytes"), 4 << 20);
  }
  const PretendedTopology machine("node:1 l3:1(size=2097152) core:1 pu:1");
  EXPECT_EQ(probe->prepare(params, work)->measure().detail.at("array_bytes"), 8 << 20);
}

TEST(HostMemory, IsNotAvailableWhereItsArraysDoNotFit) {
  const auto probe = make_host_memory();
  const Json params =
      with_defaults({{"min_bytes", std::int64_t{1} << 40}}, probe->info().params_schema);
  EXPECT_TRUE(holds(error_of<NotAvailable>([&] { probe->calibrate(params); }),
                    "lower times_cache or raise max_share"));
}

TEST(HostMemory, ItsParametersAreChecked) {
  const auto schema = make_host_memory()->info().params_schema;
  EXPECT_TRUE(check_against(Json::object(), schema).empty());
  for (const char* bad : {R"({"times_cache": -1})", R"({"min_bytes": 100})", R"({"max_share": 0})",
                          R"({"max_share": 0.95})", R"({"check_rounds": 0})", R"({"seconds": 0})",
                          R"({"size": 3})"}) {
    EXPECT_EQ(check_against(Json::parse(bad), schema).size(), 1U) << bad;
  }
}

}  // namespace
}  // namespace fleetbench
