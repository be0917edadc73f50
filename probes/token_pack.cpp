// Text to batches for the training of a language model: tokenise, pack, pad, on as many threads as
// a data loader has workers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "probes/registry.hpp"
#include "probes/support/fixed_work.hpp"
#include "probes/support/loaded_library.hpp"
#include "probes/support/median.hpp"
#include "probes/support/printable.hpp"
#include "probes/support/team_time.hpp"
#include "probes/support/usable_cores.hpp"
#include "probes/text/pack_worker.hpp"

namespace fleetbench {
namespace {

// Odd counts have a median that was measured; five let one disturbance pass without a trace.
constexpr int kRepetitions = 5;

std::string library() { return build_id_of_loaded("libsentencepiece.so"); }

TextSetSize size_of(const Json& params) {
  return {.documents = params.at("documents").get<std::size_t>(),
          .training_bytes = params.at("training_bytes").get<std::size_t>(),
          .pieces = params.at("pieces").get<int>()};
}

// What the tokens of a pass are, to be the same on every node.
Json identity(const TextSet& texts, const PackWorker& worker) {
  return {{"model", texts.model_checksum},
          {"tokens", worker.packing().tokens},
          {"checksum", worker.checksum()},
          {"library", library()}};
}

// Other versions of the library may cut texts otherwise, and this node would do other work. The
// same version must not.
void require_same(const Json& fixed, const Json& own) {
  for (const char* key : {"model", "tokens", "checksum"}) {
    if (fixed.at(key) == own.at(key)) {
      continue;
    }
    const bool same_library = fixed.at("library") == own.at("library") && own.at("library") != "";
    if (!same_library) {
      throw NotAvailable(printable_text(fmt::format(
          "this node's libsentencepiece (build id {}) cuts text into other tokens than the one of "
          "the node that fixed the work (build id {}): install the same version on all nodes",
          own.at("library").dump(), fixed.at("library").dump())));
    }
    throw WrongResult(
        printable_text(fmt::format("{} of the tokens is {} here and {} on the node that fixed the "
                                   "work, with the same library: "
                                   "one of the two computes wrong results",
                                   key, own.at(key).dump(), fixed.at(key).dump())));
  }
}

class PreparedPack : public Prepared {
 public:
  PreparedPack(const Json& params, const Json& work, std::shared_ptr<const TextSet> texts)
      : texts_(std::move(texts)),
        work_(work),
        iterations_(work.at("iterations").get<std::int64_t>()),
        team_(params.at("workers").get<int>() > 0 ? params.at("workers").get<int>()
                                                  : usable_cores()) {
    check_round_trip(*texts_);
    for (int i = 0; i < team_.size(); ++i) {
      workers_.emplace_back(*texts_, params.at("sequence").get<std::size_t>());
    }
    team_.run([this](int number) { worker(number).pass(); });
    require_same(work_, identity(*texts_, workers_.front()));
  }

  Measurement measure() override {
    std::vector<PackStages> stages;
    const auto one = time_fixed_work("one_worker", 1, kRepetitions,
                                     [&] { stages.push_back(passes(workers_.front())); });
    const auto all =
        time_together(team_, kRepetitions, [this](int number) { passes(worker(number)); });
    check_all();
    Measurement measurement{.values = values(median(one), median(all), stages)};
    measurement.detail = detail();
    measurement.detail["repetition_s"] = {{"one_worker", one}, {"workers", all}};
    return measurement;
  }

 private:
  PackWorker& worker(int number) { return workers_[static_cast<std::size_t>(number)]; }
  const Packing& packing() const { return workers_.front().packing(); }

  PackStages passes(PackWorker& worker) const {
    PackStages sum;
    for (std::int64_t i = 0; i < iterations_; ++i) {
      const PackStages stages = worker.pass();
      sum.tokenise_s += stages.tokenise_s;
      sum.pack_s += stages.pack_s;
      sum.pad_s += stages.pad_s;
    }
    return sum;
  }

  void check_all() {
    team_.run([this](int number) {
      const std::string sum = worker(number).checksum();
      if (sum != work_.at("checksum")) {
        throw WrongResult(fmt::format(
            "worker {} packed the same documents into other tokens than when it was prepared (sum "
            "{}, before {}): this machine computes wrong results",
            number, sum, work_.at("checksum").get<std::string>()));
      }
    });
  }

  // In the order of metrics().
  Values values(double one_s, double all_s, const std::vector<PackStages>& stages) const {
    const double passes = static_cast<double>(iterations_);
    const double positions = static_cast<double>(packing().positions()) * passes;
    const double tokens = static_cast<double>(packing().tokens) * passes;
    const auto per_token = [&](double PackStages::*stage) {
      std::vector<double> seconds;
      for (const PackStages& times : stages) {
        seconds.push_back(times.*stage);
      }
      return median(seconds) / tokens;
    };
    return {positions * team_.size() / all_s,
            tokens * team_.size() / all_s,
            positions / one_s,
            packing().padding_share(),
            per_token(&PackStages::tokenise_s),
            per_token(&PackStages::pack_s),
            per_token(&PackStages::pad_s)};
  }

  Json detail() const {
    return {{"workers", team_.size()},
            {"documents", texts_->documents.size()},
            {"text_bytes", texts_->document_bytes},
            {"tokens", packing().tokens},
            {"sequences", packing().sequences},
            {"passes", iterations_},
            {"model", texts_->model_checksum},
            {"library", library()}};
  }

  std::shared_ptr<const TextSet> texts_;
  Json work_;
  std::int64_t iterations_;
  std::deque<PackWorker> workers_;
  ThreadTeam team_;
};

class TokenPack : public Probe {
 public:
  ProbeInfo info() const override {
    return {.name = "token_pack",
            .summary = "tokenise, pack and pad text on all cores (SentencePiece)",
            .layer = Layer::input,
            .participants = Participants::node,
            .params_schema = params_schema()};
  }

  std::vector<MetricInfo> metrics(const Json& /*params*/) const override {
    return {rate("tokens_per_s", "positions of finished sequences, padding too, all workers"),
            unjudged(rate("effective_tokens_per_s",
                          "tokens of finished sequences without padding, all workers: tokens_per_s "
                          "without padding_share")),
            rate("one_worker.tokens_per_s",
                 "positions of finished sequences, padding too, one worker by itself"),
            unjudged(share()),
            unjudged(stage("tokenise", "cutting text into tokens, per token, one worker")),
            unjudged(stage("pack", "deciding where each document goes, per token, one worker")),
            unjudged(stage("pad", "writing the padded sequences, per token, one worker"))};
  }

  Json calibrate(const Json& params) const override {
    const auto texts = text_set(size_of(params));
    PackWorker worker(*texts, params.at("sequence").get<std::size_t>());
    worker.pass();
    const double once =
        median(time_fixed_work("one_worker", 1, kRepetitions, [&] { worker.pass(); }));
    const double repetition_s = params.at("seconds").get<double>() / kRepetitions;
    Json work = identity(*texts, worker);
    work["iterations"] = std::max<std::int64_t>(1, std::llround(repetition_s / once));
    return work;
  }

  std::unique_ptr<Prepared> prepare(const Json& params, const Json& work) const override {
    return std::make_unique<PreparedPack>(params, work, text_set(size_of(params)));
  }

 private:
  // Kept from slot to slot: it takes a second and some hundred kilobytes.
  std::shared_ptr<const TextSet> text_set(const TextSetSize& size) const {
    if (!texts_ || texts_->size != size) {
      texts_ = std::make_shared<const TextSet>(make_text_set(size));
    }
    return texts_;
  }

  static Json params_schema() {
    return Json::parse(R"({
      "type": "object", "additionalProperties": false,
      "properties": {
        "sequence": {
          "description": "tokens in a sequence",
          "type": "integer", "minimum": 16, "maximum": 1048576, "default": 2048
        },
        "workers": {
          "description": "threads that work at the same time, each on all documents; 0: one for each usable core",
          "type": "integer", "minimum": 0, "maximum": 4096, "default": 0
        },
        "documents": {
          "description": "how many documents a worker packs together; 32 hold about 0.13 MB and 40 thousand tokens",
          "type": "integer", "minimum": 1, "maximum": 4096, "default": 32
        },
        "pieces": {
          "description": "vocabulary of the tokeniser, which is trained on each node when it first needs it",
          "type": "integer", "minimum": 500, "maximum": 32000, "default": 4000
        },
        "training_bytes": {
          "description": "text that the tokeniser is trained on, on one core, before anything is timed",
          "type": "integer", "minimum": 10000, "maximum": 100000000, "default": 1000000
        },
        "seconds": {
          "description": "how long a measurement takes with one worker and again with all, on the calibrating node; one pass over the documents in each of 5 repetitions at least",
          "type": "number", "minimum": 0.001, "maximum": 3600, "default": 0.25
        }
      }
    })");
  }

  static MetricInfo metric(const std::string& name, const std::string& unit, Better better,
                           const std::string& description) {
    return {
        .name = name,
        .unit = unit,
        .better = better,
        .layer = Layer::input,
        .subject = SubjectKind::node,
        .description = description,
        .next_check =
            "see whether cpu_gemm and host_memory are slow on the same node; if one worker is "
            "as fast as elsewhere and all are not: cgroup CPU quota and cpuset, hardware threads "
            "that share cores, other processes (`top`)"};
  }
  static MetricInfo rate(const std::string& name, const std::string& description) {
    return metric(name, "tokens/s", Better::higher, description);
  }
  static MetricInfo stage(const std::string& name, const std::string& description) {
    return metric("stage." + name, "s", Better::lower, description);
  }
  static MetricInfo share() {
    return metric("padding_share", "1", Better::lower,
                  "positions that are padding; the same on every node, for the same documents");
  }
  static MetricInfo unjudged(MetricInfo info) {
    info.judged = false;
    return info;
  }

  mutable std::shared_ptr<const TextSet> texts_;  // a worker serves one slot at a time
};

}  // namespace

std::unique_ptr<Probe> make_token_pack() { return std::make_unique<TokenPack>(); }

}  // namespace fleetbench
