// What token_pack works on: documents and the tokeniser for them, the same on every node.
#pragma once

#include <string>
#include <vector>

#include "probes/text/token_model.hpp"

namespace fleetbench {

struct TextSetSize {
  std::size_t documents = 0;
  std::size_t training_bytes = 0;  // of text that the tokeniser is trained on
  int pieces = 0;                  // of its vocabulary
  bool operator==(const TextSetSize&) const = default;
};

struct TextSet {
  TextSetSize size;
  TokenModel model;
  std::string model_checksum;
  std::vector<std::string> documents;  // others than the training's
  std::size_t document_bytes = 0;
};

// Takes about a second. Gives the memory that training took back to the system. Throws as
// trained_model does.
TextSet make_text_set(const TextSetSize& size);

// Throws WrongResult where the tokens of a document do not make the same document again.
void check_round_trip(const TextSet& texts);

}  // namespace fleetbench
