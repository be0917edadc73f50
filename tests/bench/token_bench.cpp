// Does token_pack report what the bare library and the same packing measure, on one thread?
//
// token_bench [SECONDS]: at most so long, ten minutes where nothing is said. See ab_bench.hpp.
// Exit code: 0 all within 3 %, 2 one is not, 3 a control never held.
#include <sentencepiece_processor.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>

#include "probes/registry.hpp"
#include "probes/text/generated_text.hpp"
#include "probes/text/packing.hpp"
#include "probes/text/token_model.hpp"
#include "results-schema/check.hpp"
#include "tests/bench/ab_bench.hpp"

namespace fleetbench {
namespace {

constexpr int kRepetitions = 5;
// As text_set.cpp has them: the texts must be the same.
constexpr std::uint64_t kTrainingSeed = 1;
constexpr std::uint64_t kMeasuredSeed = 2;

using Clock = std::chrono::steady_clock;

class Plain {
 public:
  explicit Plain(const Json& params)
      : sequence_(params.at("sequence").get<std::size_t>()),
        texts_(GeneratedText(kMeasuredSeed).documents(params.at("documents").get<std::size_t>())) {
    const auto training =
        GeneratedText(kTrainingSeed).documents_of(params.at("training_bytes").get<std::size_t>());
    if (!processor_.LoadFromSerializedProto(trained_model(training, params.at("pieces").get<int>()))
             .ok()) {
      throw std::runtime_error("the model cannot be loaded");
    }
  }

  // Positions per second of the median repetition.
  double rate(int iterations) {
    positions();  // warm, as the probe is
    std::vector<double> rates;
    for (int repetition = 0; repetition < kRepetitions; ++repetition) {
      std::size_t sum = 0;
      const auto start = Clock::now();
      for (int i = 0; i < iterations; ++i) {
        sum += positions();
      }
      rates.push_back(static_cast<double>(sum) /
                      std::chrono::duration<double>(Clock::now() - start).count());
    }
    return median(rates);
  }

 private:
  std::size_t positions() {
    tokens_.resize(texts_.size());
    lengths_.clear();
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      processor_.Encode(texts_[i], &tokens_[i]).IgnoreError();
      tokens_[i].push_back(processor_.eos_id());
      lengths_.push_back(tokens_[i].size());
    }
    const Packing packing = pack(lengths_, sequence_);
    fill_batch(packing, tokens_, processor_.pad_id(), batch_);
    return packing.positions();
  }

  std::size_t sequence_;
  std::vector<std::string> texts_;
  sentencepiece::SentencePieceProcessor processor_;
  std::vector<Tokens> tokens_;
  std::vector<std::size_t> lengths_;
  Batch batch_;
};

int run(double seconds) {
  const auto probe = make_token_pack();
  const Json params =
      with_defaults({{"workers", 1}, {"documents", 16}}, probe->info().params_schema);
  Json work = probe->calibrate(params);
  work["iterations"] = 1;
  Plain plain(params);
  return compare_turn_by_turn(
      "token_pack", "tokens/s", seconds,
      {{.name = "one_worker",
        .plain = [&] { return plain.rate(1); },
        .probe = [&] { return probe->prepare(params, work)->measure().values.at(2).value(); }}});
}

}  // namespace
}  // namespace fleetbench

int main(int argc, char** argv) { return fleetbench::run(argc > 1 ? std::atof(argv[1]) : 600); }
