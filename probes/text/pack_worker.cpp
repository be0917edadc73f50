#include "probes/text/pack_worker.hpp"

#include <chrono>

#include "probes/text/checksum.hpp"

namespace fleetbench {

PackWorker::PackWorker(const TextSet& texts, std::size_t sequence)
    : texts_(texts),
      sequence_(sequence),
      documents_(texts.documents.size()),
      lengths_(texts.documents.size()) {}

PackStages PackWorker::pass() {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::time_point begin, Clock::time_point end) {
    return std::chrono::duration<double>(end - begin).count();
  };
  const auto start = Clock::now();
  tokenise();
  const auto tokenised = Clock::now();
  packing_ = pack(lengths_, sequence_);
  const auto packed = Clock::now();
  fill_batch(packing_, documents_, texts_.model.padding(), batch_);
  return {.tokenise_s = seconds(start, tokenised),
          .pack_s = seconds(tokenised, packed),
          .pad_s = seconds(packed, Clock::now())};
}

void PackWorker::tokenise() {
  for (std::size_t i = 0; i < documents_.size(); ++i) {
    texts_.model.encode(texts_.documents[i], documents_[i]);
    lengths_[i] = documents_[i].size();
  }
}

std::string PackWorker::checksum() const {
  Checksum sum;
  sum.add(batch_.tokens);
  sum.add(batch_.segments);
  return sum.text();
}

}  // namespace fleetbench
