// Collectives over all members of a group, in a sweep of sizes, over MPI.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "probes/mpi/collective.hpp"
#include "probes/mpi/mpi_call.hpp"
#include "probes/mpi/mpi_probe.hpp"
#include "probes/mpi/sub_communicator.hpp"
#include "probes/support/pages.hpp"

namespace fleetbench {
namespace {

struct SweepPlan {
  std::vector<std::size_t> sizes_bytes;
  int iterations = 1;
  int warmup = 1;
  double max_s = 0;  // per size
};

SweepPlan plan_of(const Json& params) {
  return {.sizes_bytes = size_sweep(params.at("begin_bytes").get<std::size_t>(),
                                    params.at("end_bytes").get<std::size_t>(),
                                    params.at("factor").get<std::size_t>()),
          .iterations = params.at("iterations").get<int>(),
          .warmup = params.at("warmup").get<int>(),
          .max_s = params.at("max_s").get<double>()};
}

// A false element as a message between members.
struct WrongElement {
  std::size_t collective = 0;
  std::size_t bytes = 0;
  ElementMismatch mismatch;
};

std::string metric_name(const Collective& collective, std::size_t bytes) {
  return collective.name + ".busbw." + size_name(bytes);
}

class PreparedSweep : public Prepared {
 public:
  PreparedSweep(SweepPlan plan, const MpiGroup& group)
      : plan_(std::move(plan)),
        ranks_(group.members),
        me_(static_cast<std::size_t>(group.me)),
        send_(largest_buffer(&Collective::send_count)),
        receive_(largest_buffer(&Collective::receive_count)),
        comm_(group) {}

  // In the middle of a call others may never come to the end of it, nor to freeing the
  // communicator, and MPI may still write to the buffers.
  ~PreparedSweep() override {
    if (in_flight_) {
      comm_.abandon();
      send_.leak();
      receive_.leak();
    }
  }

  // Untimed; also opens the connections. All members throw the same WrongResult, so that none goes
  // on to wait for the others.
  void verify() {
    in_flight_ = true;
    std::optional<WrongElement> mine;
    for (std::size_t i = 0; i < collectives().size(); ++i) {
      for (const std::size_t bytes : plan_.sizes_bytes) {
        const auto mismatch = run_once(collectives()[i], bytes);
        if (mismatch && !mine) {
          mine = WrongElement{i, bytes, *mismatch};
        }
      }
    }
    const std::string wrong = agree(mine);
    in_flight_ = false;
    if (!wrong.empty()) {
      throw WrongResult(wrong);
    }
  }

  Measurement measure() override {
    in_flight_ = true;
    Measurement result;
    Json sizes = Json::array();
    Json iterations = Json::array();
    Json time_s = Json::array();
    for (const Collective& collective : collectives()) {
      for (const std::size_t bytes : plan_.sizes_bytes) {
        const Timed timed = time_calls(collective, bytes);
        result.values.emplace_back(static_cast<double>(bytes) / timed.time_s *
                                   collective.busbw_factor(ranks_.size()));
        sizes.push_back(bytes);
        iterations.push_back(timed.iterations);
        time_s.push_back(timed.time_s);
      }
    }
    in_flight_ = false;
    result.detail = {{"sizes", sizes}, {"iterations", iterations}, {"time_s", time_s}};
    return result;
  }

 private:
  struct Timed {
    int iterations = 0;
    double time_s = 0;  // of one iteration
  };

  std::size_t largest_buffer(std::size_t (*Collective::*count)(std::size_t, std::size_t)) const {
    std::size_t largest = 0;
    for (const Collective& collective : collectives()) {
      largest = std::max(
          largest, (collective.*count)(plan_.sizes_bytes.back() / sizeof(float), ranks_.size()));
    }
    return largest * sizeof(float);
  }

  float* send_data() const { return reinterpret_cast<float*>(send_.data()); }
  float* receive_data() const { return reinterpret_cast<float*>(receive_.data()); }

  void call(const Collective& collective, std::size_t count) const {
    check_mpi(collective.call(send_data(), receive_data(), count, comm_.get()),
              collective.mpi_call.c_str());
  }

  std::optional<ElementMismatch> run_once(const Collective& collective, std::size_t bytes) {
    const std::size_t count = bytes / sizeof(float);
    const std::size_t received = collective.receive_count(count, ranks_.size());
    collective.fill({send_data(), collective.send_count(count, ranks_.size())}, me_);
    std::fill_n(receive_data(), received, -1.0F);
    call(collective, count);
    return first_mismatch({receive_data(), received}, collective.expect(count, ranks_.size(), me_));
  }

  // The text for WrongResult, the same on all members: what the first of those saw who saw
  // something wrong. Empty where nobody did.
  std::string agree(const std::optional<WrongElement>& mine) const {
    const int nobody = static_cast<int>(ranks_.size());
    const int candidate = mine ? static_cast<int>(me_) : nobody;
    int witness = nobody;
    check_mpi(MPI_Allreduce(&candidate, &witness, 1, MPI_INT, MPI_MIN, comm_.get()),
              "MPI_Allreduce of who saw a wrong element");
    if (witness == nobody) {
      return {};
    }
    WrongElement wrong = mine.value_or(WrongElement{});
    check_mpi(MPI_Bcast(&wrong, sizeof wrong, MPI_BYTE, witness, comm_.get()),
              "MPI_Bcast of a wrong element");
    return fmt::format(
        "mpi_collectives: {} of {} bytes over {} ranks: element {} on rank {} is {}, "
        "expected {}",
        collectives().at(wrong.collective).name, wrong.bytes, ranks_.size(), wrong.mismatch.element,
        ranks_.at(static_cast<std::size_t>(witness)), wrong.mismatch.got, wrong.mismatch.expected);
  }

  double loop_s(const Collective& collective, std::size_t count, int iterations) const {
    check_mpi(MPI_Barrier(comm_.get()), "MPI_Barrier");
    const Stopwatch watch;
    for (int i = 0; i < iterations; ++i) {
      call(collective, count);
    }
    return watch.elapsed_s();
  }

  Timed time_calls(const Collective& collective, std::size_t bytes) const {
    const std::size_t count = bytes / sizeof(float);
    const double warmup_s = loop_s(collective, count, plan_.warmup);
    Timed timed;
    timed.iterations = iterations_that_fit(warmup_s, plan_.warmup, plan_.max_s, plan_.iterations);
    check_mpi(MPI_Bcast(&timed.iterations, 1, MPI_INT, 0, comm_.get()),
              "MPI_Bcast of the number of iterations");
    timed.time_s = loop_s(collective, count, timed.iterations) / timed.iterations;
    return timed;
  }

  SweepPlan plan_;
  std::vector<int> ranks_;
  std::size_t me_;
  Pages send_;
  Pages receive_;
  SubCommunicator comm_;  // last: no other member waits for one that has no memory
  bool in_flight_ = false;
};

Json sweep_schema() {
  const auto integer = [](std::int64_t fallback, std::int64_t minimum, std::int64_t maximum,
                          std::string_view description) {
    return Json{{"type", "integer"},
                {"default", fallback},
                {"minimum", minimum},
                {"maximum", maximum},
                {"description", description}};
  };
  Json begin = integer(8, 4, 1 << 30, "smallest size in bytes, of a member's buffer");
  begin["multipleOf"] = sizeof(float);
  const Json max_s = {{"type", "number"},
                      {"default", 1.0},
                      {"minimum", 0.001},
                      {"maximum", 600},
                      {"description",
                       "seconds a size may take: fewer iterations are run where the warm-up says "
                       "that they would take longer, at least one"}};
  const Json properties = {
      {"begin_bytes", begin},
      {"end_bytes", integer(4 << 20, 4, 1 << 30, "no size is larger, but for the first")},
      {"factor", integer(8, 2, 1 << 20, "from one size to the next")},
      {"iterations", integer(20, 1, 1000000, "timed calls of each size")},
      {"warmup", integer(3, 1, 1000, "calls of each size before them")},
      {"max_s", max_s}};
  return {{"$schema", "http://json-schema.org/draft-07/schema#"},
          {"type", "object"},
          {"properties", properties},
          {"additionalProperties", false}};
}

MetricInfo busbw_metric(const Collective& collective, std::size_t bytes) {
  return {.name = metric_name(collective, bytes),
          .unit = "B/s",
          .better = Better::higher,
          .layer = Layer::network,
          .subject = SubjectKind::group,
          .symmetric = false,
          .description = fmt::format(
              "Bus bandwidth of {} of {} bytes, float, sum: the blocking {} in a loop, timed by "
              "each rank for itself, under MPI_THREAD_MULTIPLE; bytes / time times nccl-tests' "
              "factor.",
              collective.name, bytes, collective.mpi_call),
          .next_check =
              "A collective is as slow as its slowest member or link and names neither: look at "
              "mpi_pairs of the same run, then at what all nodes share (switch, uplinks, routing, "
              "congestion by other jobs: `ibqueryerrors`, `perfquery`, `ethtool -S IFACE`). All "
              "pairs fine: another algorithm or transport of MPI (`mpirun --mca coll_base_verbose "
              "10`), ranks bound to the wrong NUMA node, a node whose CPU is busy (host metrics)."};
}

class MpiCollectives : public MpiProbe {
 public:
  ProbeInfo info() const override {
    return {.name = "mpi_collectives",
            .summary = "collectives over all nodes of a group in a sweep of sizes, over MPI",
            .layer = Layer::network,
            .participants = Participants::group,
            .params_schema = sweep_schema()};
  }

  std::vector<MetricInfo> metrics(const Json& params) const override {
    std::vector<MetricInfo> list;
    for (const Collective& collective : collectives()) {
      for (const std::size_t bytes : plan_of(params).sizes_bytes) {
        list.push_back(busbw_metric(collective, bytes));
      }
    }
    return list;
  }

  std::unique_ptr<Prepared> prepare(const Json& params, const Json& /*work*/,
                                    const MpiGroup& group) const override {
    if (group.members.size() < 2) {
      throw NotAvailable(fmt::format("mpi_collectives takes two nodes or more, this slot has {}",
                                     group.members.size()));
    }
    auto prepared = std::make_unique<PreparedSweep>(plan_of(params), group);
    prepared->verify();
    return prepared;
  }
};

}  // namespace

std::unique_ptr<MpiProbe> make_mpi_collectives() { return std::make_unique<MpiCollectives>(); }

}  // namespace fleetbench
