// The MPI probes under a real MPI: mpirun -np 2 (or 3, or 4) mpi_probes_test. Exits non-zero, with
// a line on stderr for each check that failed. Faults are injected by standing before MPI's own
// functions (the profiling interface), so that the probes run unchanged.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "probes/mpi/clock_pings.hpp"
#include "probes/mpi/collective.hpp"
#include "probes/mpi/mpi_probe.hpp"
#include "probes/mpi/pattern.hpp"
#include "probes/mpi/sub_communicator.hpp"
#include "probes/support/pages.hpp"

namespace {

struct Faults {
  bool flip_sent_byte = false;   // byte 17 of every message
  std::string change_result_of;  // "MPI_Allreduce": element 1 of what it gives, on this rank
  bool fail_isend = false;
  std::chrono::microseconds send_delay{0};
};
Faults faults;
std::atomic<bool> hold_creation = false;  // this rank comes no further than to the creation
std::atomic<int> creations = 0;           // of communicators that have begun
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

namespace {

// What every collective of floats does after the real call.
int afterwards(int rc, const char* name, void* receive, int count, MPI_Datatype type) {
  if (faults.change_result_of == name && type == MPI_FLOAT && count > 1) {
    static_cast<float*>(receive)[1] += 1.0F;
  }
  std::this_thread::sleep_for(faults.send_delay);
  return rc;
}

}  // namespace

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* created) {
  ++creations;
  while (hold_creation) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return PMPI_Comm_create_group(comm, group, tag, created);
}

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  return afterwards(PMPI_Allreduce(send, receive, count, type, op, comm), "MPI_Allreduce", receive,
                    count, type);
}

int MPI_Allgather(const void* send, int send_count, MPI_Datatype send_type, void* receive,
                  int receive_count, MPI_Datatype receive_type, MPI_Comm comm) {
  return afterwards(
      PMPI_Allgather(send, send_count, send_type, receive, receive_count, receive_type, comm),
      "MPI_Allgather", receive, receive_count, receive_type);
}

int MPI_Reduce_scatter_block(const void* send, void* receive, int count, MPI_Datatype type,
                             MPI_Op op, MPI_Comm comm) {
  return afterwards(PMPI_Reduce_scatter_block(send, receive, count, type, op, comm),
                    "MPI_Reduce_scatter_block", receive, count, type);
}

int MPI_Alltoall(const void* send, int send_count, MPI_Datatype send_type, void* receive,
                 int receive_count, MPI_Datatype receive_type, MPI_Comm comm) {
  return afterwards(
      PMPI_Alltoall(send, send_count, send_type, receive, receive_count, receive_type, comm),
      "MPI_Alltoall", receive, receive_count, receive_type);
}

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return afterwards(PMPI_Bcast(buffer, count, type, root, comm), "MPI_Bcast", buffer, count, type);
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
      EXPECT(!property.contains("minimum") || property.at("minimum") <= property.at("default"));
      EXPECT(!property.contains("maximum") || property.at("default") <= property.at("maximum"));
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
  EXPECT(other_way >= 1);  // how many is a rate, and somebody else may need the machine
  const int here[2] = {slow_way, other_way};
  int there[2] = {};
  const int peer = group.members.at(static_cast<std::size_t>(1 - group.me));
  PMPI_Sendrecv(here, 2, MPI_INT, peer, group.tag, there, 2, MPI_INT, peer, group.tag, group.world,
                MPI_STATUS_IGNORE);
  EXPECT(here[0] == there[0] && here[1] == there[1]);

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

Json small_collectives() {
  Json params = defaults(*find_mpi_probe("mpi_collectives"));
  params["end_bytes"] = 32768;
  params["iterations"] = 5;
  return params;
}

void expect_consistent(const Measurement& result, std::size_t members) {
  std::size_t i = 0;
  for (const Collective& collective : collectives()) {
    const CollectiveRule& rule = *collective.rule;
    for (const std::size_t wanted : {8, 64, 512, 4096, 32768}) {
      const std::size_t bytes = rule.bytes(rule.count(wanted, members), members);
      EXPECT(result.detail.at("bytes").at(i) == bytes);
      EXPECT(result.values.at(i).has_value() == (bytes > 0));
      if (bytes > 0) {
        const double busbw = static_cast<double>(bytes) /
                             result.detail.at("time_s").at(i).get<double>() *
                             rule.busbw_factor(members);
        EXPECT(std::abs(result.values[i].value_or(0) / busbw - 1) < 1e-4);
        EXPECT(result.detail.at("iterations").at(i) == 5);
      }
      ++i;
    }
  }
  EXPECT(result.values.size() == i);
}

// All ranks share one machine and so one clock: the stamps can be compared as they are.
void expect_stamps(const Measurement& result, MPI_Comm world) {
  const double uncertainty_s = result.detail.at("clock_uncertainty_s").get<double>();
  EXPECT(std::abs(result.detail.at("clock_offset_s").get<double>()) <= uncertainty_s);
  double most_uncertain_s = uncertainty_s;
  PMPI_Allreduce(MPI_IN_PLACE, &most_uncertain_s, 1, MPI_DOUBLE, MPI_MAX, world);
  for (std::size_t i = 0; i < 5; ++i) {  // those of all_reduce
    double enter_s = result.detail.at("enter_s").at(i).get<double>();
    double leave_s = result.detail.at("leave_s").at(i).get<double>();
    EXPECT(enter_s <= leave_s && leave_s < 60);
    PMPI_Allreduce(MPI_IN_PLACE, &enter_s, 1, MPI_DOUBLE, MPI_MAX, world);
    PMPI_Allreduce(MPI_IN_PLACE, &leave_s, 1, MPI_DOUBLE, MPI_MIN, world);
    EXPECT(enter_s <= leave_s + 2 * most_uncertain_s);  // nobody leaves before all have entered
  }
}

void collectives_measure(const MpiGroup& group, int size) {
  if (group.me < 0) {
    return;
  }
  const MpiProbe& probe = *find_mpi_probe("mpi_collectives");
  const auto metrics = probe.metrics(small_collectives());
  EXPECT(metrics.size() == 25 && metrics.at(3).name == "all_reduce.busbw.4K" &&
         metrics.at(24).name == "broadcast.busbw.32K");
  const auto prepared = probe.prepare(small_collectives(), Json::object(), group);
  const Measurement result = prepared->measure();
  EXPECT(result.values.size() == metrics.size());
  EXPECT(result.detail.at("members") == group.members.size());
  expect_consistent(result, group.members.size());
  if (static_cast<int>(group.members.size()) == size) {
    expect_stamps(result, group.world);
  }
}

void collectives_that_are_asked_for(const MpiGroup& group) {
  Json params = small_collectives();
  params["collectives"] = {"broadcast", "all_gather"};
  const MpiProbe& probe = *find_mpi_probe("mpi_collectives");
  const auto metrics = probe.metrics(params);
  EXPECT(metrics.size() == 10 && metrics.at(0).name == "broadcast.busbw.8" &&
         metrics.at(9).name == "all_gather.busbw.32K");
  EXPECT(probe.prepare(params, Json::object(), group)->measure().values.size() == 10);
}

void clocks_of_one_machine_agree(MPI_Comm world) {
  for (const int span : {kClockSpan, 2, 1}) {
    const MemberClock clock = find_member_clock(world, span);
    EXPECT(std::abs(clock.offset_ns) <= clock.uncertainty_ns);
    EXPECT(my_rank != 0 || (clock.offset_ns == 0 && clock.uncertainty_ns == 0));
    EXPECT(my_rank == 0 || clock.uncertainty_ns > 0);
  }
}

// As in a slot of several parties: disjoint groups with the same tag, at the same time.
void groups_measure_side_by_side(MPI_Comm world, int size) {
  Json params = small_collectives();
  params["end_bytes"] = 512;
  std::vector<int> order;
  for (int rank = 0; rank < size; ++rank) {
    order.push_back(rank);
  }
  for (int round = 0; round < 30; ++round) {
    std::ranges::rotate(order, order.begin() + 1 + round % (size - 1));
    const auto half = order.begin() + size / 2;
    const bool first = std::find(order.begin(), half, my_rank) != half;
    const MpiGroup group = group_of(
        world, first ? std::vector<int>(order.begin(), half) : std::vector<int>(half, order.end()));
    const Measurement result =
        find_mpi_probe("mpi_collectives")->prepare(params, Json::object(), group)->measure();
    EXPECT(result.detail.at("members") == group.members.size());
  }
}

void cap_ends_a_collective_early(const MpiGroup& group) {
  if (group.me < 0) {
    return;
  }
  Json params = defaults(*find_mpi_probe("mpi_collectives"));
  params["end_bytes"] = 8;
  params["max_s"] = 0.02;
  params["collectives"] = {"all_reduce"};
  const auto prepared = find_mpi_probe("mpi_collectives")->prepare(params, Json::object(), group);
  faults.send_delay = std::chrono::milliseconds(4);
  const int iterations = prepared->measure().detail.at("iterations").at(0).get<int>();
  faults = {};
  int least = iterations;
  PMPI_Allreduce(&iterations, &least, 1, MPI_INT, MPI_MIN, group.world);
  EXPECT(iterations >= 1 && iterations <= 5 && iterations == least);
}

Json counted_by(const std::function<void()>& action) {
  try {
    action();
  } catch (const WrongResult& error) {
    return error.detail;
  }
  return nullptr;
}

void collectives_with_a_wrong_element(const MpiGroup& group) {
  const MpiProbe& probe = *find_mpi_probe("mpi_collectives");
  Json params = defaults(probe);
  params["begin_bytes"] = 512;
  params["end_bytes"] = 4096;
  for (const Collective& collective : collectives()) {
    const auto prepare = [&] { probe.prepare(params, Json::object(), group); };
    faults.change_result_of = my_rank == 1 ? collective.mpi_call : "";
    const std::string text = thrown_by<WrongResult>(prepare);
    const Json counted = counted_by(prepare);
    faults = {};
    EXPECT(text.find(fmt::format("{} of ", collective.rule->name)) != std::string::npos);
    EXPECT(text.find("element 1 on rank 1 is") != std::string::npos);
    EXPECT(counted.at("members") == group.members.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < 10; ++i) {
      wrong += counted.at("wrong").at(i).get<std::size_t>();
      EXPECT((counted.at("wrong").at(i) == 1) ==
             (collectives()[i / 2].rule->name == collective.rule->name));
    }
    EXPECT(wrong == 2);
  }
}

void too_few_members(MPI_Comm world) {
  for (const auto& probe : mpi_probes()) {
    const std::string text = thrown_by<NotAvailable>(
        [&] { probe->prepare(defaults(*probe), Json::object(), group_of(world, {my_rank})); });
    EXPECT(text.find("this slot has 1") != std::string::npos);
  }
}

// The last rank is there and then comes no further: the others are in the middle of a creation.
void a_creation_without_its_last_member_keeps_none_waiting(const MpiGroup& whole,
                                                           const MpiGroup& others) {
  constexpr int kReleaseTag = 99;
  const int last = whole.members.back();
  const int creations_before = creations;
  hold_creation = my_rank == last;
  std::thread stuck([&whole] {
    const SubCommunicator comm(whole);
    EXPECT(comm.get() != MPI_COMM_NULL);
  });
  while (creations == creations_before) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (my_rank != last) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const SubCommunicator comm(others);
    int sum = 0;
    EXPECT(PMPI_Allreduce(&my_rank, &sum, 1, MPI_INT, MPI_SUM, comm.get()) == MPI_SUCCESS);
    EXPECT(sum == last * (last - 1) / 2);
  }
  if (my_rank == 0) {
    PMPI_Send(nullptr, 0, MPI_BYTE, last, kReleaseTag, whole.world);
  } else if (my_rank == last) {
    PMPI_Recv(nullptr, 0, MPI_BYTE, 0, kReleaseTag, whole.world, MPI_STATUS_IGNORE);
    hold_creation = false;
  }
  stuck.join();
}

void run_all(MPI_Comm world, int size) {
  registry_lists_the_probes();
  pattern_finds_a_changed_byte();
  pattern_sees_a_shift();
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
  collectives_measure(group_of(world, all), size);
  collectives_measure(group_of(world, ends), size);
  collectives_that_are_asked_for(group_of(world, all));
  clocks_of_one_machine_agree(world);
  if (size >= 4) {
    groups_measure_side_by_side(world, size);
  }
  cap_ends_a_collective_early(group_of(world, all));
  collectives_with_a_wrong_element(group_of(world, all));
  failed_call_is_an_exception(group_of(world, {0, 1}));
  if (size >= 3) {
    MpiGroup whole = group_of(world, all);
    MpiGroup others = group_of(world, {all.begin(), all.end() - 1});
    whole.turn = 7;
    others.turn = 8;
    a_creation_without_its_last_member_keeps_none_waiting(whole, others);
  }
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
