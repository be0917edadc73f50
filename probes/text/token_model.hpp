// A tokeniser, trained on the spot: SentencePiece, set up as the first Llama models were (BPE, text
// kept as it is, digits one by one, unknown characters as bytes).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "probes/text/packing.hpp"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace fleetbench {

// The model's bytes depend on the texts, on `pieces` and on the version of SentencePiece only: BPE
// counts, and does not compute with fractions that a maths library rounds. Takes about a second for
// 1 MB. Writes nothing, neither files nor messages. Throws std::runtime_error with SentencePiece's
// reason, as where the texts do not have as many pieces.
std::string trained_model(const std::vector<std::string>& texts, int pieces);

// Const functions may be called from several threads.
class TokenModel {
 public:
  // Throws std::runtime_error where this is no model.
  explicit TokenModel(const std::string& serialized);
  ~TokenModel();
  TokenModel(TokenModel&&) noexcept;
  TokenModel& operator=(TokenModel&&) noexcept;

  // Overwrites `tokens`, the mark of the end last.
  void encode(const std::string& text, Tokens& tokens) const;
  // The text again, exactly.
  std::string decode(const Tokens& tokens) const;
  int pieces() const;
  int padding() const;

 private:
  std::unique_ptr<sentencepiece::SentencePieceProcessor> processor_;
};

}  // namespace fleetbench
