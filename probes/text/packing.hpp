// Documents of tokens packed into sequences of one length, as for the training of a language model:
// what does not fit is split, what is left of a sequence is padding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fleetbench {

using Tokens = std::vector<int>;

// A run of tokens of one document, and where it goes.
struct Placement {
  std::size_t document = 0;
  std::size_t from = 0;  // first token in the document
  std::size_t count = 0;
  std::size_t sequence = 0;
  std::size_t at = 0;  // position in the sequence
  bool operator==(const Placement&) const = default;
};

struct Packing {
  std::size_t length = 0;  // of each sequence
  std::size_t sequences = 0;
  std::size_t tokens = 0;  // that are no padding
  std::vector<Placement> placements;

  std::size_t positions() const { return length * sequences; }
  double padding_share() const;  // 0 where there is no sequence
};

// First fit: each document, in order, goes into the first sequence that has room for all of it. One
// that is longer than a sequence fills as many as it can; its rest is placed like a document. Empty
// documents take no place. Throws std::invalid_argument where `length` is 0.
Packing pack(std::span<const std::size_t> document_lengths, std::size_t length);

// `sequences` rows of `length` positions each.
struct Batch {
  std::vector<std::int32_t> tokens;    // padding where nothing was placed
  std::vector<std::int32_t> segments;  // in a row: 1 for its first document, 2 …; 0 is padding
};

// Overwrites `batch`, whose memory is used again. The documents are those whose lengths were
// packed.
void fill_batch(const Packing& packing, std::span<const Tokens> documents, std::int32_t padding,
                Batch& batch);

}  // namespace fleetbench
