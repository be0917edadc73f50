#include "probes/text/token_model.hpp"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <stdexcept>
#include <unordered_map>

#include "probes/support/printable.hpp"

namespace fleetbench {
namespace {

void check(const sentencepiece::util::Status& status, const char* what) {
  if (!status.ok()) {
    throw std::runtime_error(std::string(what) + ": SentencePiece says " +
                             printable_text(status.ToString()));
  }
}

// Line by line: a piece never holds a line feed.
class Lines : public sentencepiece::SentenceIterator {
 public:
  explicit Lines(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        lines_.push_back(text.substr(begin, end - begin));
        begin = end + 1;
      }
    }
  }
  bool done() const override { return next_ >= lines_.size(); }
  void Next() override { ++next_; }
  const std::string& value() const override { return lines_[next_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  std::vector<std::string> lines_;
  std::size_t next_ = 0;
};

std::unordered_map<std::string, std::string> options(int pieces) {
  return {{"model_type", "bpe"},
          {"vocab_size", std::to_string(pieces)},
          {"normalization_rule_name", "identity"},
          {"remove_extra_whitespaces", "false"},
          {"split_digits", "true"},
          {"byte_fallback", "true"},
          {"pad_id", "3"},  // after the unknown, the begin and the end
          {"num_threads", "1"},
          {"minloglevel", "2"}};  // errors only: standard error is the user's
}

}  // namespace

std::string trained_model(const std::vector<std::string>& texts, int pieces) {
  Lines lines(texts);
  std::string model;
  check(sentencepiece::SentencePieceTrainer::Train(options(pieces), &lines, &model),
        "training a tokeniser");
  return model;
}

TokenModel::TokenModel(const std::string& serialized)
    : processor_(std::make_unique<sentencepiece::SentencePieceProcessor>()) {
  check(processor_->LoadFromSerializedProto(serialized), "loading a tokeniser");
}

TokenModel::~TokenModel() = default;
TokenModel::TokenModel(TokenModel&&) noexcept = default;
TokenModel& TokenModel::operator=(TokenModel&&) noexcept = default;

void TokenModel::encode(const std::string& text, Tokens& tokens) const {
  check(processor_->Encode(text, &tokens), "cutting a text into tokens");
  tokens.push_back(processor_->eos_id());
}

std::string TokenModel::decode(const Tokens& tokens) const {
  std::string text;
  check(processor_->Decode(tokens, &text), "making text of tokens");
  return text;
}

int TokenModel::pieces() const { return processor_->GetPieceSize(); }

int TokenModel::padding() const { return processor_->pad_id(); }

}  // namespace fleetbench
