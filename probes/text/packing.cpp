#include "probes/text/packing.hpp"

#include <algorithm>
#include <stdexcept>

namespace fleetbench {
namespace {

class Packer {
 public:
  explicit Packer(std::size_t length) { packing_.length = length; }

  void add(std::size_t document, std::size_t tokens) {
    std::size_t from = 0;
    for (; tokens - from >= packing_.length; from += packing_.length) {
      place({.document = document, .from = from, .count = packing_.length}, new_sequence());
    }
    if (from < tokens) {
      const std::size_t rest = tokens - from;
      place({.document = document, .from = from, .count = rest}, with_room(rest));
    }
  }

  Packing finished() { return std::move(packing_); }

 private:
  std::size_t new_sequence() {
    used_.push_back(0);
    return packing_.sequences++;
  }

  std::size_t with_room(std::size_t count) {
    for (const std::size_t sequence : open_) {
      if (used_[sequence] + count <= packing_.length) {
        return sequence;
      }
    }
    open_.push_back(new_sequence());
    return open_.back();
  }

  void place(Placement placement, std::size_t sequence) {
    placement.sequence = sequence;
    placement.at = used_[sequence];
    used_[sequence] += placement.count;
    packing_.tokens += placement.count;
    packing_.placements.push_back(placement);
    if (used_[sequence] == packing_.length) {
      std::erase(open_, sequence);
    }
  }

  Packing packing_;
  std::vector<std::size_t> used_;  // positions of each sequence
  std::vector<std::size_t> open_;  // those that are neither full nor whole pieces of a document
};

}  // namespace

double Packing::padding_share() const {
  return sequences == 0 ? 0 : 1 - static_cast<double>(tokens) / static_cast<double>(positions());
}

Packing pack(std::span<const std::size_t> document_lengths, std::size_t length) {
  if (length == 0) {
    throw std::invalid_argument("a sequence of 0 tokens holds no document");
  }
  Packer packer(length);
  for (std::size_t document = 0; document < document_lengths.size(); ++document) {
    packer.add(document, document_lengths[document]);
  }
  return packer.finished();
}

void fill_batch(const Packing& packing, std::span<const Tokens> documents, std::int32_t padding,
                Batch& batch) {
  batch.tokens.assign(packing.positions(), padding);
  batch.segments.assign(packing.positions(), 0);
  std::vector<std::int32_t> segments(packing.sequences, 0);
  for (const Placement& placement : packing.placements) {
    const Tokens& document = documents[placement.document];
    const std::size_t at = placement.sequence * packing.length + placement.at;
    std::copy_n(document.data() + placement.from, placement.count, batch.tokens.data() + at);
    std::fill_n(batch.segments.data() + at, placement.count, ++segments[placement.sequence]);
  }
}

}  // namespace fleetbench
