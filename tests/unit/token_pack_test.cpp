#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "probes/registry.hpp"
#include "probes/support/loaded_library.hpp"
#include "probes/text/checksum.hpp"
#include "probes/text/generated_text.hpp"
#include "probes/text/pack_worker.hpp"
#include "results-schema/check.hpp"

namespace fleetbench {
namespace {

constexpr TextSetSize kSmall{.documents = 4, .training_bytes = 60000, .pieces = 700};

template <typename Error>
std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no such error";
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string checksum_of(const std::vector<std::string>& texts) {
  Checksum sum;
  for (const std::string& text : texts) {
    sum.add(text);
  }
  return sum.text();
}

TEST(Checksum, IsFnv1a) {
  const auto of = [](std::string_view text) {
    Checksum sum;
    sum.add(text);
    return sum.text();
  };
  EXPECT_EQ(of(""), "cbf29ce484222325");
  EXPECT_EQ(of("a"), "af63dc4c8601ec8c");
  EXPECT_EQ(of("foobar"), "85944171f73967e8");
  Checksum numbers;
  numbers.add(std::vector<std::int32_t>{0x626f6f66, 0x7261});  // "foob", "ar\0\0"
  EXPECT_EQ(numbers.text(), of(std::string_view("foobar\0\0", 8)));
}

TEST(GeneratedText, IsTheSameEverywhere) {
  EXPECT_EQ(checksum_of(GeneratedText(1).documents(50)), "a5a7ee710bc2a334");
  EXPECT_NE(checksum_of(GeneratedText(2).documents(50)), "a5a7ee710bc2a334");
}

TEST(GeneratedText, LooksLikeALanguage) {
  GeneratedText source(7);
  const auto documents = source.documents(400);
  std::size_t bytes = 0;
  std::size_t others = 0;
  std::size_t digits = 0;
  std::vector<std::size_t> sizes;
  for (const std::string& document : documents) {
    EXPECT_FALSE(document.empty());
    sizes.push_back(document.size());
    for (const char character : document) {
      const auto byte = static_cast<unsigned char>(character);
      EXPECT_TRUE(byte >= 0x20 || byte == '\n');
      ++bytes;
      others += byte >= 0x80;
      digits += byte >= '0' && byte <= '9';
    }
  }
  std::sort(sizes.begin(), sizes.end());
  EXPECT_GT(sizes.back(), 10 * sizes[sizes.size() / 2]) << "lengths have a long tail";
  EXPECT_GT(others, bytes / 100);
  EXPECT_GT(digits, bytes / 200);
}

TEST(GeneratedText, GivesAsMuchAsIsAskedFor) {
  std::size_t bytes = 0;
  for (const std::string& document : GeneratedText(1).documents_of(20000)) {
    bytes += document.size();
  }
  EXPECT_GE(bytes, 20000U);
  EXPECT_TRUE(GeneratedText(1).documents_of(0).empty());
}

struct PackCase {
  const char* name;
  std::vector<std::size_t> lengths;
  std::vector<Placement> placements;
  std::size_t sequences;
  double padding_share;
};

TEST(Packing, PlacesDocuments) {
  const std::vector<PackCase> cases{
      {"nothing", {}, {}, 0, 0},
      {"empty documents", {0, 0}, {}, 0, 0},
      {"exact fit", {10}, {{0, 0, 10, 0, 0}}, 1, 0},
      {"two that fit exactly", {4, 6}, {{0, 0, 4, 0, 0}, {1, 0, 6, 0, 4}}, 1, 0},
      {"short", {4}, {{0, 0, 4, 0, 0}}, 1, 0.6},
      {"too long", {25}, {{0, 0, 10, 0, 0}, {0, 10, 10, 1, 0}, {0, 20, 5, 2, 0}}, 3, 1.0 / 6},
      {"first fit",
       {7, 6, 3, 4},
       {{0, 0, 7, 0, 0}, {1, 0, 6, 1, 0}, {2, 0, 3, 0, 7}, {3, 0, 4, 1, 6}},
       2,
       0},
      {"the rest of a long one goes where there is room",
       {5, 13},
       {{0, 0, 5, 0, 0}, {1, 0, 10, 1, 0}, {1, 10, 3, 0, 5}},
       2,
       0.1},
      {"an empty one between", {5, 0, 5}, {{0, 0, 5, 0, 0}, {2, 0, 5, 0, 5}}, 1, 0},
  };
  for (const PackCase& expected : cases) {
    const Packing packing = pack(expected.lengths, 10);
    EXPECT_EQ(packing.placements, expected.placements) << expected.name;
    EXPECT_EQ(packing.sequences, expected.sequences) << expected.name;
    EXPECT_NEAR(packing.padding_share(), expected.padding_share, 1e-12) << expected.name;
  }
  EXPECT_THROW(pack(std::vector<std::size_t>{1}, 0), std::invalid_argument);
}

TEST(Packing, FillsABatch) {
  const std::vector<Tokens> documents{{11, 12, 13}, {21, 22, 23, 24, 25, 26}, {31}};
  const std::vector<std::size_t> lengths{3, 6, 1};
  Batch batch;
  fill_batch(pack(lengths, 5), documents, -1, batch);
  EXPECT_EQ(batch.tokens, (std::vector<std::int32_t>{11, 12, 13, 26, 31, 21, 22, 23, 24, 25}));
  EXPECT_EQ(batch.segments, (std::vector<std::int32_t>{1, 1, 1, 2, 3, 1, 1, 1, 1, 1}));
  fill_batch(pack(std::vector<std::size_t>{3}, 5), documents, -1, batch);
  EXPECT_EQ(batch.tokens, (std::vector<std::int32_t>{11, 12, 13, -1, -1}));
  EXPECT_EQ(batch.segments, (std::vector<std::int32_t>{1, 1, 1, 0, 0}));
}

TEST(TokenModel, IsTheSameWhenItIsTrainedAgain) {
  const auto texts = GeneratedText(1).documents_of(kSmall.training_bytes);
  EXPECT_EQ(trained_model(texts, kSmall.pieces), trained_model(texts, kSmall.pieces));
}

TEST(TokenModel, GivesTheTextAgain) {
  const TextSet texts = make_text_set(kSmall);
  EXPECT_EQ(texts.model.pieces(), kSmall.pieces);
  EXPECT_NO_THROW(check_round_trip(texts));
  for (const char* text :
       {"", "Hello, World", "two  spaces, a\ttab", "\n\nnew\n", "日本語 🙂 é"}) {
    Tokens tokens;
    texts.model.encode(text, tokens);
    EXPECT_EQ(texts.model.decode(tokens), text);
    EXPECT_NE(tokens.back(), texts.model.padding());
  }
}

TEST(TokenModel, SaysWhyItCannotBe) {
  const auto texts = GeneratedText(1).documents_of(20000);
  EXPECT_TRUE(holds(error_of<std::runtime_error>([&] { trained_model(texts, 30000); }),
                    "SentencePiece says"));
  EXPECT_THROW(TokenModel("no model"), std::runtime_error);
}

TEST(LoadedLibrary, HasABuildIdThatStaysTheSame) {
  const std::string id = build_id_of_loaded("libsentencepiece.so");
  if (id.empty()) {
    GTEST_SKIP() << "this libsentencepiece was built without a build id";
  }
  EXPECT_EQ(id, build_id_of_loaded("libsentencepiece.so"));
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos) << id;
  EXPECT_EQ(build_id_of_loaded("libnobody.so"), "");
}

Json small_params(const Probe& probe) {
  return with_defaults({{"documents", 4},
                        {"training_bytes", 60000},
                        {"pieces", 700},
                        {"sequence", 256},
                        {"workers", 3},
                        {"seconds", 0.001}},
                       probe.info().params_schema);
}

TEST(TokenPack, MeasuresWhatItCalibrated) {
  const auto probe = make_token_pack();
  const Json params = small_params(*probe);
  const Json work = probe->calibrate(params);
  const auto prepared = probe->prepare(params, work);
  const auto measurement = prepared->measure();
  const auto metrics = probe->metrics(params);
  ASSERT_EQ(measurement.values.size(), metrics.size());
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    EXPECT_TRUE(std::isfinite(measurement.values[i].value())) << metrics[i].name;
    EXPECT_TRUE(*measurement.values[i] > 0 || !metrics[i].judged) << metrics[i].name;
  }
  EXPECT_EQ(metrics[3].name, "padding_share");
  EXPECT_NEAR(*measurement.values[1], *measurement.values[0] * (1 - *measurement.values[3]),
              1e-6 * *measurement.values[0]);
  EXPECT_EQ(measurement.detail.at("workers"), 3);
  EXPECT_EQ(measurement.detail.at("tokens"), work.at("tokens"));
  EXPECT_NO_THROW(prepared->measure());
}

TEST(TokenPack, OtherTokensWithTheSameLibraryAreAWrongResult) {
  const auto probe = make_token_pack();
  const Json params = small_params(*probe);
  for (const char* key : {"checksum", "model", "tokens"}) {
    Json work = probe->calibrate(params);
    work[key] = key == std::string("tokens") ? Json(1) : Json("0123456789abcdef");
    EXPECT_TRUE(holds(error_of<WrongResult>([&] { probe->prepare(params, work); }), key)) << key;
    work["library"] = "another";
    EXPECT_TRUE(holds(error_of<NotAvailable>([&] { probe->prepare(params, work); }), "another"))
        << key;
  }
  Json work = probe->calibrate(params);
  work["library"] = "another that cuts alike";
  EXPECT_NO_THROW(probe->prepare(params, work));
}

TEST(TokenPack, ItsParametersAreChecked) {
  const auto schema = make_token_pack()->info().params_schema;
  EXPECT_TRUE(check_against(Json::object(), schema).empty());
  for (const char* bad :
       {R"({"sequence": 0})", R"({"workers": -1})", R"({"documents": 0})", R"({"pieces": 10})",
        R"({"training_bytes": 1})", R"({"seconds": 0})", R"({"size": 3})"}) {
    EXPECT_EQ(check_against(Json::parse(bad), schema).size(), 1U) << bad;
  }
}

}  // namespace
}  // namespace fleetbench
