#include "probes/text/text_set.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>

#include "probes/probe.hpp"
#include "probes/text/checksum.hpp"
#include "probes/text/generated_text.hpp"

namespace fleetbench {
namespace {

// Of documents; any two that differ.
constexpr std::uint64_t kTrainingSeed = 1;
constexpr std::uint64_t kMeasuredSeed = 2;

}  // namespace

TextSet make_text_set(const TextSetSize& size) {
  const auto serialized =
      trained_model(GeneratedText(kTrainingSeed).documents_of(size.training_bytes), size.pieces);
  Checksum checksum;
  checksum.add(serialized);
  TextSet texts{.size = size,
                .model = TokenModel(serialized),
                .model_checksum = checksum.text(),
                .documents = GeneratedText(kMeasuredSeed).documents(size.documents)};
  for (const std::string& document : texts.documents) {
    texts.document_bytes += document.size();
  }
  malloc_trim(0);  // else other probes of this worker measure beside it
  return texts;
}

void check_round_trip(const TextSet& texts) {
  Tokens tokens;
  for (std::size_t i = 0; i < texts.documents.size(); ++i) {
    const std::string& text = texts.documents[i];
    texts.model.encode(text, tokens);
    const std::string again = texts.model.decode(tokens);
    if (again != text) {
      const auto [at, other] = std::mismatch(text.begin(), text.end(), again.begin(), again.end());
      throw WrongResult(
          fmt::format("document {} of {} bytes, cut into {} tokens and put together again, differs "
                      "from byte {} on: this machine computes wrong results",
                      i, text.size(), tokens.size(), at - text.begin()));
    }
  }
}

}  // namespace fleetbench
