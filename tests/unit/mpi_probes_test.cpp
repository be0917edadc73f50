// The MPI probes under a real MPI: mpirun -np 2 (or 3) mpi_probes_test. Exits non-zero, with a line
// on stderr for each check that failed. Faults are injected by standing before MPI's own functions
// (the profiling interface), so that the probes run unchanged.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "probes/mpi/collective.hpp"
#include "probes/mpi/mpi_probe.hpp"
#include "probes/mpi/pattern.hpp"
#include "probes/support/pages.hpp"

namespace {

struct Faults {
  bool flip_sent_byte = false;  // byte 17 of every message
  bool change_sum = false;      // element 1 of every all_reduce, on this rank
  bool fail_isend = false;
  std::chrono::microseconds send_delay{0};
};
Faults faults;
int my_rank = 0;
int failures = 0;

}  // namespace

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  if (faults.fail_isend) {
    return MPI_ERR_TAG;
  }
  if (faults.flip_sent_byte && count > 17) {
    const_cast<unsigned char*>(static_cast<const unsigned char*>(buffer))[17] ^= 0x40;
  }
  std::this_thread::sleep_for(faults.send_delay);
  return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  const int rc = PMPI_Allreduce(send, receive, count, type, op, comm);
  if (faults.change_sum && type == MPI_FLOAT && count > 1) {
    static_cast<float*>(receive)[1] += 1.0F;
  }
  std::this_thread::sleep_for(faults.send_delay);
  return rc;
}

namespace fleetbench {
namespace {

#define EXPECT(condition)                                                                  \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      fmt::print(stderr, "rank {}: {}:{}: {}\n", my_rank, __FILE__, __LINE__, #condition); \
      ++failures;                                                                          \
    }                                                                                      \
  } while (false)

Json defaults(const MpiProbe& probe) {
  Json params = Json::object();
  const Json schema = probe.info().params_schema;
  for (const auto& [name, property] : schema.at("properties").items()) {
    params[name] = property.at("default");
  }
  return params;
}

Json small_pairs() {
  Json params = defaults(*find_mpi_probe("mpi_pairs"));
  params["message_bytes"] = 1000;
  params["window"] = 4;
  params["bytes"] = 40000;
  params["latency_iterations"] = 200;
  return params;
}

// The group of `members` as the calling rank sees it; `me` is -1 where it is none of them. All
// ranks call it, so that they agree on the tag.
MpiGroup group_of(MPI_Comm world, const std::vector<int>& members) {
  static int tag = 100;
  const auto found = std::ranges::find(members, my_rank);
  tag += 8;
  return {.world = world,
          .members = members,
          .me = found == members.end() ? -1 : static_cast<int>(found - members.begin()),
          .tag = tag};
}

template <typename Exception>
std::string thrown_by(const std::function<void()>& action) {
  try {
    action();
  } catch (const Exception& error) {
    return error.what();
  } catch (const std::exception& error) {
    return fmt::format("another exception: {}", error.what());
  }
  return "nothing";
}

void registry_lists_the_probes() {
  EXPECT(mpi_probes().size() == 2);
  EXPECT(find_mpi_probe("mpi_pairs") != nullptr);
  EXPECT(find_mpi_probe("mpi_pears") == nullptr);
  for (const auto& probe : mpi_probes()) {
    const ProbeInfo info = probe->info();
    EXPECT(info.layer == Layer::network);
    EXPECT(info.params_schema.at("additionalProperties") == false);
    for (const auto& [name, property] : info.params_schema.at("properties").items()) {
      EXPECT(property.contains("default") && property.contains("description"));
      EXPECT(property.at("minimum") <= property.at("default"));
      EXPECT(property.at("default") <= property.at("maximum"));
    }
    for (const MetricInfo& metric : probe->metrics(defaults(*probe))) {
      EXPECT(!metric.description.empty() && !metric.next_check.empty());
    }
  }
}

void pattern_finds_a_changed_byte() {
  for (const std::size_t size : {1U, 7U, 8U, 9U, 4099U}) {
    std::vector<std::byte> bytes(size);
    fill_pattern(bytes, 5);
    EXPECT(!first_mismatch(std::span<const std::byte>(bytes), 5));
    EXPECT(first_mismatch(std::span<const std::byte>(bytes), 6));
    for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
      const std::byte right = bytes[at];
      bytes[at] ^= std::byte{1};
      const auto mismatch = first_mismatch(std::span<const std::byte>(bytes), 5);
      EXPECT(mismatch && mismatch->offset == at && mismatch->expected == right &&
             mismatch->got == bytes[at]);
      bytes[at] = right;
    }
  }
}

void pattern_sees_a_shift() {
  std::vector<std::byte> bytes(8192);
  fill_pattern(bytes, 5);
  for (const std::size_t shift : {1U, 8U, 64U, 4096U}) {
    EXPECT(first_mismatch(std::span<const std::byte>(bytes).subspan(shift), 5));
  }
}

void sizes_and_names() {
  EXPECT((size_sweep(8, 4 << 20, 8) ==
          std::vector<std::size_t>{8, 64, 512, 4096, 32768, 262144, 2097152}));
  EXPECT((size_sweep(8, 64, 8) == std::vector<std::size_t>{8, 64}));
  EXPECT((size_sweep(8, 63, 8) == std::vector<std::size_t>{8}));
  EXPECT((size_sweep(1024, 8, 2) == std::vector<std::size_t>{1024}));
  const std::vector<std::pair<std::size_t, std::string>> names{{8, "8"},
                                                               {1000, "1000"},
                                                               {1024, "1K"},
                                                               {1536, "1536"},
                                                               {4096, "4K"},
                                                               {1 << 20, "1M"},
                                                               {(1 << 20) + 4, "1048580"},
                                                               {3 << 20, "3M"},
                                                               {1 << 30, "1G"}};
  for (const auto& [bytes, name] : names) {
    EXPECT(size_name(bytes) == name);
  }
}

void iterations_under_a_cap() {
  EXPECT(iterations_that_fit(0.3, 3, 1.0, 20) == 10);
  EXPECT(iterations_that_fit(0.003, 3, 1.0, 20) == 20);
  EXPECT(iterations_that_fit(0.0, 3, 1.0, 20) == 20);
  EXPECT(iterations_that_fit(30.0, 3, 1.0, 20) == 1);
}

void busbw_factor_of_all_reduce() {
  const Collective& all_reduce = collectives().front();
  EXPECT(all_reduce.name == "all_reduce");
  EXPECT(all_reduce.busbw_factor(2) == 1.0);
  EXPECT(all_reduce.busbw_factor(4) == 1.5);
  EXPECT(std::abs(all_reduce.busbw_factor(8) - 1.75) < 1e-12);
}

void expected_sums_are_exact() {
  constexpr std::size_t kCount = 3000;
  const Collective& all_reduce = collectives().front();
  std::vector<float> input(kCount);
  std::vector<float> sum(kCount, 0.0F);
  for (std::size_t member = 0; member < 5; ++member) {
    all_reduce.fill(input, member);
    for (std::size_t i = 0; i < kCount; ++i) {
      sum[i] += input[i];
    }
  }
  EXPECT(!first_mismatch(sum, all_reduce.expect(kCount, 5, 0)));
  sum[2999] += 1.0F;
  const auto mismatch = first_mismatch(sum, all_reduce.expect(kCount, 5, 0));
  EXPECT(mismatch && mismatch->element == 2999 && mismatch->got == mismatch->expected + 1.0F);
}

void pages_are_whole_and_zero() {
  Pages pages(5000);
  EXPECT(pages.size() == 5000 && reinterpret_cast<std::uintptr_t>(pages.data()) % 4096 == 0);
  EXPECT(pages.bytes()[4999] == std::byte{0});
  const Pages moved = std::move(pages);
  EXPECT(moved.size() == 5000);
}

void pairs_measure(const MpiGroup& group) {
  if (group.me < 0) {
    return;
  }
  const MpiProbe& probe = *find_mpi_probe("mpi_pairs");
  const auto prepared = probe.prepare(small_pairs(), Json::object(), group);
  for (int i = 0; i < 3; ++i) {
    const Measurement result = prepared->measure();
    EXPECT(result.values.size() == probe.metrics(small_pairs()).size());
    EXPECT(result.values.at(0).value_or(0) > 0);
    EXPECT(result.values.at(1).has_value() == (group.me == 0));
    EXPECT(result.values.at(1).value_or(1) > 0);
    EXPECT(result.detail.at("sent_windows") == 10);
    EXPECT(result.detail.at("received_windows") == 10);
  }
}

void cap_ends_a_pair_early_on_both_ends(const MpiGroup& group) {
  if (group.me < 0) {
    return;
  }
  Json params = small_pairs();
  params["max_s"] = 0.02;
  const auto prepared = find_mpi_probe("mpi_pairs")->prepare(params, Json::object(), group);
  faults.send_delay = std::chrono::milliseconds(group.me == 0 ? 2 : 0);  // 8 ms a window, a to b
  const Measurement result = prepared->measure();
  faults = {};
  const int slow_way =
      result.detail.at(group.me == 0 ? "sent_windows" : "received_windows").get<int>();
  const int other_way =
      result.detail.at(group.me == 0 ? "received_windows" : "sent_windows").get<int>();
  EXPECT(slow_way >= 1 && slow_way <= 3);
  EXPECT(other_way > slow_way);

  params["max_s"] = 0.0;  // below the schema's minimum: one window and one batch all the same
  const auto shortest = find_mpi_probe("mpi_pairs")->prepare(params, Json::object(), group);
  const Json detail = shortest->measure().detail;
  EXPECT(detail.at("sent_windows") == 1 && detail.at("received_windows") == 1);
  EXPECT(group.me != 0 || detail.at("latency_batches") == 1);
}

void pair_with_a_wrong_byte(const MpiGroup& group) {
  if (group.me < 0) {
    return;
  }
  faults.flip_sent_byte = group.me == 1;
  const std::string text = thrown_by<WrongResult>(
      [&] { find_mpi_probe("mpi_pairs")->prepare(small_pairs(), Json::object(), group); });
  faults = {};
  const std::string link =
      fmt::format("rank {} to rank {}: byte 17 of 4000", group.members[1], group.members[0]);
  EXPECT(text.find(link) != std::string::npos);
  EXPECT(text.find(fmt::format("rank {} to", group.members[0])) == std::string::npos);
}

void failed_call_is_an_exception(const MpiGroup& group) {
  if (group.me != 0) {
    return;
  }
  faults.fail_isend = true;
  const std::string text = thrown_by<std::runtime_error>(
      [&] { find_mpi_probe("mpi_pairs")->prepare(small_pairs(), Json::object(), group); });
  faults = {};
  EXPECT(text.find(fmt::format("MPI_Isend to rank {}: MPI_ERR_TAG", group.members[1])) == 0);
}

void collectives_measure(const MpiGroup& group) {
  if (group.me < 0) {
    return;
  }
  const MpiProbe& probe = *find_mpi_probe("mpi_collectives");
  Json params = defaults(probe);
  params["end_bytes"] = 32768;
  const auto prepared = probe.prepare(params, Json::object(), group);
  const Measurement result = prepared->measure();
  const auto metrics = probe.metrics(params);
  EXPECT(metrics.size() == 5 && metrics.at(3).name == "all_reduce.busbw.4K");
  EXPECT(result.values.size() == metrics.size());
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    const double n = static_cast<double>(group.members.size());
    const double busbw = result.detail.at("sizes").at(i).get<double>() /
                         result.detail.at("time_s").at(i).get<double>() * 2 * (n - 1) / n;
    EXPECT(result.values[i].value_or(0) > 0);
    EXPECT(std::abs(result.values[i].value_or(0) / busbw - 1) < 1e-9);
    EXPECT(result.detail.at("iterations").at(i) == 20);
  }
}

void cap_ends_a_collective_early(const MpiGroup& group) {
  if (group.me < 0) {
    return;
  }
  Json params = defaults(*find_mpi_probe("mpi_collectives"));
  params["end_bytes"] = 8;
  params["max_s"] = 0.02;
  const auto prepared = find_mpi_probe("mpi_collectives")->prepare(params, Json::object(), group);
  faults.send_delay = std::chrono::milliseconds(4);
  const int iterations = prepared->measure().detail.at("iterations").at(0).get<int>();
  faults = {};
  int least = iterations;
  PMPI_Allreduce(&iterations, &least, 1, MPI_INT, MPI_MIN, group.world);
  EXPECT(iterations >= 1 && iterations <= 5 && iterations == least);
}

void collective_with_a_wrong_element(const MpiGroup& group) {
  faults.change_sum = my_rank == 1;
  const std::string text = thrown_by<WrongResult>([&] {
    const MpiProbe& probe = *find_mpi_probe("mpi_collectives");
    probe.prepare(defaults(probe), Json::object(), group);
  });
  faults = {};
  EXPECT(text.find("all_reduce of 8 bytes") != std::string::npos);
  EXPECT(text.find("element 1 on rank 1 is") != std::string::npos);
}

void too_few_members(MPI_Comm world) {
  for (const auto& probe : mpi_probes()) {
    const std::string text = thrown_by<NotAvailable>(
        [&] { probe->prepare(defaults(*probe), Json::object(), group_of(world, {my_rank})); });
    EXPECT(text.find("this slot has 1") != std::string::npos);
  }
}

void run_all(MPI_Comm world, int size) {
  registry_lists_the_probes();
  pattern_finds_a_changed_byte();
  pattern_sees_a_shift();
  sizes_and_names();
  iterations_under_a_cap();
  busbw_factor_of_all_reduce();
  expected_sums_are_exact();
  pages_are_whole_and_zero();
  std::vector<int> all;
  for (int rank = 0; rank < size; ++rank) {
    all.push_back(rank);
  }
  const std::vector<int> ends{size - 1, 0};
  too_few_members(world);
  pairs_measure(group_of(world, {0, 1}));
  pairs_measure(group_of(world, ends));
  cap_ends_a_pair_early_on_both_ends(group_of(world, {0, 1}));
  pair_with_a_wrong_byte(group_of(world, ends));
  collectives_measure(group_of(world, all));
  collectives_measure(group_of(world, ends));
  cap_ends_a_collective_early(group_of(world, all));
  collective_with_a_wrong_element(group_of(world, all));
  failed_call_is_an_exception(group_of(world, {0, 1}));
}

}  // namespace
}  // namespace fleetbench

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) {
    fmt::print(stderr, "mpi_probes_test: start it with mpirun -np 2, or more\n");
    return 1;
  }
  MPI_Comm world = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  try {
    fleetbench::run_all(world, size);
  } catch (const std::exception& error) {
    fmt::print(stderr, "rank {}: {}\n", my_rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  PMPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (my_rank == 0 && failures == 0) {
    fmt::print("mpi_probes_test: all checks hold on {} ranks\n", size);
  }
  MPI_Comm_free(&world);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
