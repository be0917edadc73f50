// What one worker of a data loader for text does: tokenise, pack, pad.
#pragma once

#include <string>

#include "probes/text/text_set.hpp"

namespace fleetbench {

struct PackStages {
  double tokenise_s = 0;
  double pack_s = 0;
  double pad_s = 0;
};

// Owns its buffers, which are used again from pass to pass. Uses the texts as long as it lives. One
// thread at a time; workers do not share anything that changes.
class PackWorker {
 public:
  PackWorker(const TextSet& texts, std::size_t sequence);

  // All documents to sequences, once. Returns how long each stage took.
  PackStages pass();

  // Of the last pass.
  const Packing& packing() const { return packing_; }
  const Batch& batch() const { return batch_; }
  std::string checksum() const;  // of all positions

 private:
  void tokenise();

  const TextSet& texts_;
  std::size_t sequence_;
  std::vector<Tokens> documents_;
  std::vector<std::size_t> lengths_;
  Packing packing_;
  Batch batch_;
};

}  // namespace fleetbench
